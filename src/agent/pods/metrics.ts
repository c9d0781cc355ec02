import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge } from '../../base/index.ts';
import type { Verdict } from './sources/verdicts.ts';

/** The metrics of the pods of this node. */
export interface PodMetrics {
  manifests(verdicts: readonly Verdict[]): void;
  /** The number of pods that the API has for this node, without mirrors. */
  fromApi(count: number): void;
  /** Counts a list of all pods. */
  listed(): void;
  mirror(operation: 'create' | 'delete' | 'status', result: 'done' | 'failed'): void;
}

const states = ['accepted', 'waiting', 'invalid', 'duplicate', 'ignored'] as const;

export function podMetrics(registry: MetricsRegistry): PodMetrics {
  const registers = [registry];
  const manifests = new Gauge({
    name: 'nodeward_static_pod_manifests',
    help: 'Files in the folder of static pods, by what became of them.',
    labelNames: ['state'],
    registers,
  });
  const fromApi = new Gauge({
    name: 'nodeward_api_pods',
    help: 'Pods that the API has for this node, mirror pods not counted.',
    registers,
  });
  const lists = new Counter({
    name: 'nodeward_api_pod_lists_total',
    help: 'How often all pods of this node were listed, including the first time.',
    registers,
  });
  const mirrors = new Counter({
    name: 'nodeward_mirror_pod_writes_total',
    help: 'Writes of mirror pods, by operation and result.',
    labelNames: ['operation', 'result'],
    registers,
  });
  return {
    manifests(verdicts) {
      for (const state of states)
        manifests.set({ state }, verdicts.filter((verdict) => verdict.state === state).length);
    },
    fromApi: (count) => fromApi.set(count),
    listed: () => lists.inc(),
    mirror: (operation, result) => mirrors.inc({ operation, result }),
  };
}
