import type { MetricsRegistry } from '../../../base/index.ts';
import { createMetrics, Gauge, Histogram } from '../../../base/index.ts';
import type { DraDrivers } from './types.ts';

export type DraMethod = 'NodePrepareResources' | 'NodeUnprepareResources';

export interface DraMetrics {
  /** `result`: `answered`, or the name of the gRPC code. */
  called(driver: string, method: DraMethod, result: string, seconds: number): void;
  /** Sets the drivers whose connections are exposed. */
  watch(drivers: DraDrivers): void;
}

const seconds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 20, 45];

/** Registers the metrics; without a registry they are counted and not exposed. */
export function draMetrics(registry: MetricsRegistry = createMetrics()): DraMetrics {
  const registers = [registry];
  const took = new Histogram({
    name: 'nodeward_dra_call_seconds',
    help: 'How long calls of DRA drivers took, by driver, method and what came of it.',
    labelNames: ['driver', 'method', 'result'],
    buckets: seconds,
    registers,
  });
  let known: DraDrivers | undefined;
  new Gauge({
    name: 'nodeward_dra_driver_connected',
    help: 'Whether a connection to a DRA driver stands.',
    labelNames: ['driver'],
    registers,
    collect() {
      this.reset();
      for (const driver of known?.drivers() ?? [])
        this.set({ driver: driver.name }, Number(driver.readiness().isConnected));
    },
  });
  return {
    called: (driver, method, result, tookSeconds) => took.observe({ driver, method, result }, tookSeconds),
    watch(drivers) {
      known = drivers;
    },
  };
}
