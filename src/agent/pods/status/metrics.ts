import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, Histogram } from '../../../base/index.ts';

export type WriteResult = 'written' | 'deleted' | 'dropped' | 'failed';

/** The metrics of what is written of pods. */
export interface StatusMetrics {
  wrote(result: WriteResult): void;
  /** From the change of a status until the API has it. */
  took(seconds: number): void;
}

const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function statusMetrics(registry: MetricsRegistry): StatusMetrics {
  const registers = [registry];
  const writes = new Counter({
    name: 'nodeward_pod_status_writes_total',
    help: 'Writes of the status of pods and confirmed deletions; dropped: the pod was gone or replaced.',
    labelNames: ['result'],
    registers,
  });
  const latency = new Histogram({
    name: 'nodeward_pod_status_write_seconds',
    help: 'Time from the change of the status of a pod until the API has it.',
    buckets,
    registers,
  });
  return {
    wrote: (result) => writes.inc({ result }),
    took: (seconds) => latency.observe(seconds),
  };
}
