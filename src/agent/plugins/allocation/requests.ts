import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import type { DevicePluginCalls, DeviceResource } from '../devices/index.ts';
import { AllocationError } from './errors.ts';
import type { DeviceCounts } from './types.ts';

/** A plugin cannot have more devices, so a greater count is invalid. */
const countLimit = 16_384;

/** Returns the plugin's calls; throws while the plugin is away. */
export function requirePlugin({ name, plugin }: DeviceResource): DevicePluginCalls {
  if (plugin !== undefined) return plugin;
  throw new AllocationError('away', `the device plugin of ${name} is away; it is waited for`);
}

/** Calls a plugin; an error becomes an AllocationError. `what` completes the sentence "the plugin of … ". */
export async function callPlugin<T>(
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

/** Returns the pod's uid; throws when it has none, or no such container. */
export function requireUid({ metadata, spec }: Pod, containerName: string): string {
  const uid = metadata?.uid ?? '';
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (uid === '') throw new AllocationError('invalid', 'a pod without a uid gets no devices');
  if (containers.some(({ name }) => name === containerName)) return uid;
  throw new AllocationError('invalid', `the pod has no container ${JSON.stringify(containerName)}`);
}

/** Returns the counts above zero, sorted by name: resources are always locked in this order, so that calls cannot deadlock. */
export function parseCounts(counts: DeviceCounts): [string, number][] {
  const requested = Object.entries(counts).filter(([, size]) => size !== 0);
  for (const [name, size] of requested) {
    if (!Number.isInteger(size) || size < 0 || size > countLimit)
      throw new AllocationError('invalid', `${size} is no number of devices of ${name}`);
  }
  return requested.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function toAllocationError(error: unknown): AllocationError {
  return new AllocationError('refused', describeError(error), { cause: error });
}
