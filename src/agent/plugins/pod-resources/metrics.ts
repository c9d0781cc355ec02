import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, createMetrics } from '../../../base/index.ts';

export type Outcome = 'answered' | 'not-found' | 'limited' | 'failed';

/** Counts a call by the version of the interface, its method and its result. */
export type CountCall = (version: 'v1' | 'v1alpha1', method: string, result: Outcome) => void;

/** Registers the metrics; without a registry they are counted and not exposed. */
export function podResourcesMetrics(registry: MetricsRegistry = createMetrics()): CountCall {
  const calls = new Counter({
    name: 'nodeward_pod_resources_requests_total',
    help: 'Calls of the pod resources service, by version, method and result.',
    labelNames: ['version', 'method', 'result'],
    registers: [registry],
  });
  return (version, method, result) => calls.inc({ version, method, result });
}
