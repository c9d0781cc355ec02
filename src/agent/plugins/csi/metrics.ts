import type { MetricsRegistry } from '../../../base/index.ts';
import { Gauge } from '../../../base/index.ts';
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
