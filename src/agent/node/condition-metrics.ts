import type { MetricsRegistry } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';
import type { Finding } from './conditions.ts';

/** What a condition's status is in the metrics. */
const values = { True: 1, False: 0, Unknown: -1 } as const;

/** Returns what records the conditions that the agent found last; without a registry nothing is recorded. */
export function createConditionGauge(
  metrics: MetricsRegistry | undefined,
): (findings: readonly Finding[]) => void {
  if (metrics === undefined) return () => undefined;
  const gauge = new Gauge({
    name: 'nodeward_node_condition',
    help: 'The conditions of the node as the agent finds them, whether or not the API has them yet: 1 True, 0 False, -1 Unknown.',
    labelNames: ['condition'],
    registers: [metrics],
  });
  return (findings) => {
    for (const { type, status } of findings) gauge.set({ condition: type }, values[status]);
  };
}
