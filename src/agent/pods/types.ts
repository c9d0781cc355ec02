import type { Pod } from '../../api/index.ts';

/** The pods that are meant for this node. */
export interface PodSource {
  /** Those of manifests on this node first, then those of the API, each in the order of namespaces and names. */
  pods(): readonly Pod[];
  /** Calls `listener` with all pods whenever they have changed. What it throws is logged. */
  onChange(listener: (pods: readonly Pod[]) => void): Disposable;
}
