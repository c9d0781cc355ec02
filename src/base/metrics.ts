import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';

export { Counter, Gauge, Histogram, MetricsRegistry };

/** A registry of its own for each server of the process, with the process's own figures in it. */
export function createMetrics(): MetricsRegistry {
  const registry = new MetricsRegistry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
