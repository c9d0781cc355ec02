import type { Pod } from '../../api/index.ts';
import type { PodOrigin } from '../pods/plan/index.ts';

/** A pod that holds something of the node. */
export interface ActivePod {
  readonly pod: Pod;
  readonly origin: PodOrigin;
  /** It ends for another reason; to evict it makes that quicker. */
  readonly isEnding: boolean;
}

/** What a pod uses now. A figure that is missing is not known, and counts as 0. */
export interface PodUse {
  /** Its working set. */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads. */
  readonly processes?: number | undefined;
  /** Regular and init containers, in the order of the pod's spec. */
  readonly containers: readonly ContainerUse[];
  /** Its volumes that lie on the disk of the node and are its own. */
  readonly volumes: readonly VolumeUse[];
}

export interface ContainerUse {
  readonly name: string;
  readonly memoryBytes?: number | undefined;
  /** Its writable layer. */
  readonly layer?: DiskUse | undefined;
  readonly logs?: DiskUse | undefined;
}

export interface VolumeUse extends DiskUse {
  readonly name: string;
}

export interface DiskUse {
  readonly bytes: number;
  readonly inodes: number;
}

/** What is read of pods: figures of cgroups cost little, those of the disk a walk through folders. */
export type UseKind = 'memory' | 'processes' | 'disk';

/** By uid; a pod that is not in it has no figures. Undefined: of none could they be read. Bounded in time; never rejects. */
export type ReadUse = (
  pods: readonly Pod[],
  kinds: readonly UseKind[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, PodUse> | undefined>;
