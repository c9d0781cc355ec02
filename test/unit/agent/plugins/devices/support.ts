import type { DeviceManagerOptions } from '../../../../../src/agent/plugins/devices/index.ts';
import { DeviceManager } from '../../../../../src/agent/plugins/devices/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

export const resource = 'vendor.example/gpu';

export interface Bench extends AsyncDisposable {
  readonly manager: DeviceManager;
  readonly folder: string;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** `healthy/all` of a resource; undefined where it is not known. */
  amounts(name?: string): string | undefined;
}

/** A manager on real sockets and the real clock. */
export async function startBench(change: Partial<DeviceManagerOptions> = {}): Promise<Bench> {
  const home = await temporaryFolder('devices-');
  const metrics = createMetrics();
  const manager = new DeviceManager({ clock: systemClock, log: silentLogger(), metrics, ...change });
  return {
    manager,
    metrics,
    folder: home.path,
    amounts(name = resource) {
      const found = manager.inventory.resources().get(name);
      if (found === undefined) return undefined;
      const healthy = [...found.devices.values()].filter((device) => device.healthy).length;
      return `${healthy}/${found.devices.size}`;
    },
    async [Symbol.asyncDispose]() {
      manager[Symbol.dispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** A signal that nobody aborts. */
export const never = new AbortController().signal;
