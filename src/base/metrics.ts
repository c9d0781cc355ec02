import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';

export { Counter, Gauge, Histogram, MetricsRegistry };

/** The longest that Node.js takes as a timer's interval: a histogram with this resolution never wakes the process. */
const never = 2 ** 31 - 1;

/**
 * The metrics that prom-client computes from a timer of 10 ms, which would wake an idle process 100 times a second.
 * `nodejs_eventloop_lag_seconds`, measured at each scrape, and `nodejs_eventloop_utilization_ratio` stand in for them.
 */
const sampled = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
);

/** Gauges with the ending of a counter. Those without it count the same, by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Creates a registry with the metrics of the process; each server of the process has its own. */
export function createMetrics(): MetricsRegistry {
  const registry = new MetricsRegistry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: never });
  for (const name of [...sampled, ...misnamed]) registry.removeSingleMetric(name);
  measureUtilization(registry);
  return registry;
}

function measureUtilization(registry: MetricsRegistry): void {
  let before = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'The share of the time since the last scrape in which the event loop was busy.',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
