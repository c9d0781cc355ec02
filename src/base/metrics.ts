import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';

export { Counter, Gauge, Histogram, MetricsRegistry };

/** Creates a registry with the metrics of the process; each server of the process has its own. */
export function createMetrics(): MetricsRegistry {
  const registry = new MetricsRegistry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
