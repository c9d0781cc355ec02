import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Allocator, openDeviceState } from '../../../../../src/agent/plugins/allocation/index.ts';
import type { DeviceInventory } from '../../../../../src/agent/plugins/devices/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';

export interface StartedAllocator extends AsyncDisposable {
  readonly allocator: Allocator;
  metrics(): Promise<string>;
}

/** What the agent does at its start: reads the state file, and goes on from it. */
export async function startAllocator(
  rootDir: string,
  inventory: DeviceInventory,
  options: { clock?: Clock; writeFile?: (path: string, text: string) => Promise<void> } = {},
): Promise<StartedAllocator> {
  const { clock = systemClock } = options;
  const metrics = createMetrics();
  const common = { clock, log: silentLogger() };
  const state = openDeviceState({ rootDir, ...common, ...options });
  const read = await state.read();
  const allocator = new Allocator({ inventory, state, metrics, ...common });
  allocator.restore(read.state === 'value' ? read.value : undefined);
  return {
    allocator,
    metrics: () => metrics.metrics(),
    async [Symbol.asyncDispose]() {
      allocator[Symbol.dispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

/** Who has what by the state file, as `pod/container: resource id,id`, sorted. */
export async function heldOnDisk(rootDir: string): Promise<string[]> {
  const path = join(rootDir, 'device-plugins', 'nodeward_internal_checkpoint');
  const { Data } = JSON.parse(await readFile(path, 'utf8'));
  const entries: { PodUID: string; ContainerName: string; ResourceName: string; DeviceIDs: object }[] =
    Data.PodDeviceEntries;
  return entries
    .map(({ PodUID, ContainerName, ResourceName, DeviceIDs }) => {
      const ids = [...new Set(Object.values(DeviceIDs).flat())].sort();
      return `${PodUID}/${ContainerName}: ${ResourceName} ${ids.join(',')}`;
    })
    .sort();
}
