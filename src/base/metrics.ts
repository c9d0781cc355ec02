import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';

export { Counter, Gauge, Histogram, MetricsRegistry };

/** Creates a registry with the metrics of the process; each server of the process has its own. */
export function createMetrics(): MetricsRegistry {
  const registry = new MetricsRegistry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  return registry;
}

/** Gauges with the ending of a counter. Those without it count the same, by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);
