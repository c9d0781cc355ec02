import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDeviceAllocations } from '../../../../../src/agent/plugins/allocation/index.ts';
import type { Inventory } from '../../../../../src/agent/plugins/devices/index.ts';
import { computeDeviceAmounts, rememberDevices } from '../../../../../src/agent/plugins/devices/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { startFakePlugin } from '../../../../support/fake-device-plugin.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { never, resource, startBench } from '../devices/support.ts';
import { createFakeInventory, podWithUid } from './fake-inventory.ts';
import { startAllocator } from './support.ts';

const noPods = { pods: () => [], onChange: () => ({ [Symbol.dispose]: () => undefined }) };
const checkpoint = (rootDir: string) => join(rootDir, 'device-plugins', 'nodeward_internal_checkpoint');

/** The state file is kept of `inventory`, until disposed of. */
async function keep(rootDir: string, inventory: Inventory): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const allocations = createDeviceAllocations({
    rootDir,
    inventory,
    remember: (before) => rememberDevices(inventory, before),
    pods: noPods,
    isComplete: () => false,
    clock: systemClock,
    log: silentLogger(),
  });
  const ended = allocations.run(stop.signal, ready.resolve);
  await ready.promise;
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function registeredOnDisk(rootDir: string): Promise<Record<string, string[]>> {
  return JSON.parse(await readFile(checkpoint(rootDir), 'utf8')).Data.RegisteredDevices;
}

test('the next start has the devices of before, unhealthy, until their grace is over', async () => {
  await using before = await startBench();
  const rootDir = before.folder;
  await using plugin = await startFakePlugin({
    socket: join(rootDir, 'p.sock'),
    devices: [{ id: 'a' }, { id: 'b' }],
  });
  {
    await using _kept = await keep(rootDir, before.manager.inventory);
    await before.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => before.amounts() === '2/2');
  }
  await using next = await startBench({ graceMs: () => 200 });
  const { inventory } = next.manager;
  await using _kept = await keep(rootDir, inventory);
  assert.deepEqual(computeDeviceAmounts(inventory), {
    capacity: { [resource]: '2' },
    allocatable: { [resource]: '0' },
  });
  await waitFor('the end of the grace', () => inventory.gone().has(resource));
  await waitFor(
    'the file to know',
    async () => !(await readFile(checkpoint(rootDir), 'utf8')).includes(resource),
  );
});

test('a resource that no plugin can have is not remembered', async () => {
  await using bench = await startBench();
  const { inventory } = bench.manager;
  rememberDevices(inventory, {
    cpu: ['a'],
    [resource]: ['a'],
    'vendor.example/many': Array(16_385).fill('x'),
  });
  assert.deepEqual([...inventory.resources().keys()], [resource]);
});

test('a plugin that lists other devices all the time has them written in turn, and the last in the end', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const waits: (() => void)[] = [];
  const written: string[] = [];
  const clock = { ...systemClock, sleep: () => new Promise<void>((resolve) => waits.push(resolve)) };
  const writeFile = async (_path: string, text: string) => void written.push(text);
  await using _started = await startAllocator(folder.path, inventory, { clock, writeFile });

  for (let turn = 0; turn < 100; turn += 1) {
    inventory.offer(resource, [`d${turn}`]);
    await nextTurn();
  }
  assert.equal(written.length, 1, 'what is written at the start');
  waits.shift()?.();
  await waitFor('the last change', () => written.length === 2);
  assert.match(written[1] ?? '', /"d99"/);
});

test('lists that are too long for the file keep nobody from his devices', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const long = Array.from({ length: 16_384 }, (_each, index) => `${index}-`.padEnd(256, 'x'));
  for (let index = 0; index < 16; index += 1) inventory.offer(`flood.example/${index}`, long);
  inventory.offer(resource, ['a', 'b']);
  await using started = await startAllocator(folder.path, inventory);

  const given = await started.allocator.allocate(podWithUid('p'), 'app', { [resource]: 1 });

  assert.equal(given.holdings.length, 1);
  const registered = await registeredOnDisk(folder.path);
  assert.deepEqual(registered[resource], ['a', 'b']);
  assert.ok(Object.keys(registered).length < 17);
});

test('a state file that is not there, or was damaged, is made at the start', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  {
    await using _started = await startAllocator(folder.path, inventory);
  }
  assert.deepEqual(await registeredOnDisk(folder.path), {});
  await writeFile(checkpoint(folder.path), '{"Data":', { mode: 0o600 });
  {
    await using _started = await startAllocator(folder.path, inventory);
  }
  assert.deepEqual(await registeredOnDisk(folder.path), {});
});
