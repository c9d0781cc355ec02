import type { MetricsRegistry } from '../../../base/index.ts';
import { createMetrics, Gauge, Histogram } from '../../../base/index.ts';
import type { CsiDriver, CsiDrivers, Publication } from './types.ts';

const states = ['published', 'pending', 'refused', 'local'] as const;

/** Registers the number of drivers in use, by the state of their publication. */
export function registerCsiMetrics(
  registry: MetricsRegistry,
  drivers: CsiDrivers,
  stateOf: (driver: CsiDriver) => Publication['state'],
): void {
  new Gauge({
    name: 'nodeward_csi_drivers',
    help: 'CSI drivers in use on this node, by how far the cluster knows of them.',
    labelNames: ['csinode'],
    registers: [registry],
    collect() {
      const found = drivers.drivers().map(stateOf);
      for (const csinode of states) this.set({ csinode }, found.filter((state) => state === csinode).length);
    },
  });
}

export type CsiMethod =
  | 'NodeGetCapabilities'
  | 'NodeStageVolume'
  | 'NodeUnstageVolume'
  | 'NodePublishVolume'
  | 'NodeUnpublishVolume'
  | 'NodeExpandVolume'
  | 'NodeGetVolumeStats';

export interface VolumeCallMetrics {
  /** `result`: the name of the gRPC code. */
  called(driver: string, method: CsiMethod, result: string, seconds: number): void;
}

const seconds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Registers how long calls for volumes take; without a registry they are counted and not exposed. */
export function volumeCallMetrics(registry: MetricsRegistry = createMetrics()): VolumeCallMetrics {
  const took = new Histogram({
    name: 'nodeward_csi_call_seconds',
    help: 'How long calls of CSI drivers for volumes took, by driver, method and gRPC code.',
    labelNames: ['driver', 'method', 'result'],
    buckets: seconds,
    registers: [registry],
  });
  return {
    called: (driver, method, result, tookSeconds) => took.observe({ driver, method, result }, tookSeconds),
  };
}
