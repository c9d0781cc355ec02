import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import type { DevicePluginCalls, DeviceResource } from '../devices/index.ts';
import { AllocationError } from './errors.ts';
import type { DeviceCounts } from './types.ts';

/** More devices of one resource than a plugin can have are no number of devices. */
const countLimit = 16_384;

/** Throws while it is away. */
export function pluginOf({ name, plugin }: DeviceResource): DevicePluginCalls {
  if (plugin !== undefined) return plugin;
  throw new AllocationError('away', `the device plugin of ${name} is away; it is waited for`);
}

/** Asks a plugin; what goes wrong becomes an AllocationError. */
export async function asking<T>(
  name: string,
  what: string,
  cancel: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (cancel.aborted) throw new AllocationError('released', 'the pod has gone meanwhile', { cause: error });
    throw new AllocationError('refused', `the plugin of ${name} ${what}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** The uid of a pod that has the container; throws for what no container can be given devices by. */
export function uidOf({ metadata, spec }: Pod, containerName: string): string {
  const uid = metadata?.uid ?? '';
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (uid === '') throw new AllocationError('invalid', 'a pod without a uid gets no devices');
  if (containers.some(({ name }) => name === containerName)) return uid;
  throw new AllocationError('invalid', `the pod has no container ${JSON.stringify(containerName)}`);
}

/** Sorted by name: two containers never wait for each other's resource in turn. */
export function askedOf(counts: DeviceCounts): [string, number][] {
  const asked = Object.entries(counts).filter(([, size]) => size !== 0);
  for (const [name, size] of asked) {
    if (!Number.isInteger(size) || size < 0 || size > countLimit)
      throw new AllocationError('invalid', `${size} is no number of devices of ${name}`);
  }
  return asked.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function unexpected(error: unknown): AllocationError {
  return new AllocationError('refused', describeError(error), { cause: error });
}
