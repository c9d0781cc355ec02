import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, createMetrics, Gauge, Histogram } from '../../../base/index.ts';
import type { Way } from './attachment.ts';
import type { CallTimer } from './plugin-calls.ts';
import type { DeviceInventory } from './types.ts';

/** Metrics of device plugins. */
export interface DeviceMetrics {
  registration(way: Way, result: 'accepted' | 'refused' | 'failed'): void;
  /** A plugin in use has left. */
  left(): void;
  time: CallTimer;
  /** Counts the devices of `inventory` whenever the metrics are collected. */
  watch(inventory: DeviceInventory): void;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Registers the metrics; without a registry they are counted and not exposed. */
export function deviceMetrics(registry: MetricsRegistry = createMetrics()): DeviceMetrics {
  const registers = [registry];
  const registrations = new Counter({
    name: 'nodeward_device_plugin_registrations_total',
    help: 'Registrations of device plugins, by the way they took and what came of it: accepted, refused or failed.',
    labelNames: ['way', 'result'],
    registers,
  });
  const departures = new Counter({
    name: 'nodeward_device_plugin_departures_total',
    help: 'How often the list of a device plugin has ended.',
    registers,
  });
  const calls = new Histogram({
    name: 'nodeward_device_plugin_call_seconds',
    help: 'How long calls of device plugins took, by method and how they ended: ok or failed.',
    labelNames: ['method', 'result'],
    buckets: seconds,
    registers,
  });
  return {
    registration: (way, result) => registrations.inc({ way, result }),
    left: () => departures.inc(),
    async time(method, run) {
      const stopTimer = calls.startTimer({ method });
      try {
        const value = await run();
        stopTimer({ result: 'ok' });
        return value;
      } catch (error) {
        stopTimer({ result: 'failed' });
        throw error;
      }
    },
    watch: (inventory) => watchInventory(inventory, registers),
  };
}

function watchInventory(inventory: DeviceInventory, registers: MetricsRegistry[]): void {
  new Gauge({
    name: 'nodeward_devices',
    help: 'Devices by resource and health.',
    labelNames: ['resource', 'health'],
    registers,
    collect() {
      this.reset();
      for (const { name, devices } of inventory.resources().values()) {
        const healthy = [...devices.values()].filter((device) => device.healthy).length;
        this.set({ resource: name, health: 'healthy' }, healthy);
        this.set({ resource: name, health: 'unhealthy' }, devices.size - healthy);
      }
    },
  });
  new Gauge({
    name: 'nodeward_device_plugins_away',
    help: 'Resources whose device plugin has left, or has not come back since the agent started.',
    registers,
    collect() {
      const resources = [...inventory.resources().values()];
      this.set(resources.filter(({ plugin }) => plugin === undefined).length);
    },
  });
}
