import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, createMetrics, Gauge } from '../../../base/index.ts';
import type { AllocationFailure } from './errors.ts';

export interface AllocationMetrics {
  /** The result for one container; `kept`: it held the devices already. */
  ended(result: 'made' | 'kept' | AllocationFailure): void;
  released(): void;
}

/**
 * Registers the metrics; without a registry they are counted and not exposed. `counts` returns the devices held now, by
 * resource.
 */
export function allocationMetrics(
  counts: () => ReadonlyMap<string, number>,
  registry: MetricsRegistry = createMetrics(),
): AllocationMetrics {
  const registers = [registry];
  const allocations = new Counter({
    name: 'nodeward_device_allocations_total',
    help: 'Containers that asked for devices, by what came of it: made, kept, or the reason of the failure.',
    labelNames: ['result'],
    registers,
  });
  const releases = new Counter({
    name: 'nodeward_device_releases_total',
    help: 'Pods whose devices have been given up.',
    registers,
  });
  new Gauge({
    name: 'nodeward_devices_allocated',
    help: 'Devices that pods hold, by resource.',
    labelNames: ['resource'],
    registers,
    collect() {
      this.reset();
      for (const [resource, count] of counts()) this.set({ resource }, count);
    },
  });
  allocations.inc({ result: 'made' }, 0);
  return {
    ended: (result) => allocations.inc({ result }),
    released: () => releases.inc(),
  };
}
