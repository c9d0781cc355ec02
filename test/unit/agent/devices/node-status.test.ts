import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { deviceAmounts, devicePluginHandler, keepMemory } from '../../../../src/agent/devices/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { startFakePlugin, waitFor } from '../../../support/index.ts';
import type { Bench } from './support.ts';
import { never, resource, startBench } from './support.ts';

/** Keeps the bench's inventory in `file`, until disposed of. */
async function startMemory(bench: Bench, file: string) {
  const end = new AbortController();
  const loaded = Promise.withResolvers<void>();
  const common = { inventory: bench.manager.inventory, clock: systemClock, log: silentLogger() };
  const running = keepMemory({ path: file, ...common }, loaded.resolve, end.signal);
  await loaded.promise;
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

describe('what the node has of its devices', () => {
  test('is all of them as capacity, the healthy ones as allocatable, and zero once they are gone', async () => {
    await using bench = await startBench({ graceMs: () => 300 });
    const { inventory } = bench.manager;
    assert.deepEqual(deviceAmounts(inventory), { capacity: {}, allocatable: {} });
    const devices = [{ id: 'a' }, { id: 'b', health: 'Unhealthy' }, { id: 'c' }];
    const plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/3');
    assert.deepEqual(deviceAmounts(inventory), {
      capacity: { [resource]: '3' },
      allocatable: { [resource]: '2' },
    });
    await plugin[Symbol.asyncDispose]();
    await waitFor('it to be away', () => deviceAmounts(inventory).allocatable[resource] === '0');
    assert.equal(deviceAmounts(inventory).capacity[resource], '3');
    await waitFor('the end of the grace', () => deviceAmounts(inventory).capacity[resource] === '0');
    assert.equal(deviceAmounts(inventory).allocatable[resource], '0');
  });
});

describe('the memory of devices', () => {
  test('has the devices of before in the next start, unhealthy, until their grace is over', async () => {
    await using bench = await startBench();
    const file = join(bench.folder, 'state');
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      devices: [{ id: 'a' }, { id: 'b' }],
    });
    {
      await using _memory = await startMemory(bench, file);
      await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
      await waitFor('the list', () => bench.amounts() === '2/2');
    }
    await using next = await startBench({ graceMs: () => 200 });
    await using _memory = await startMemory(next, file);
    assert.deepEqual(deviceAmounts(next.manager.inventory), {
      capacity: { [resource]: '2' },
      allocatable: { [resource]: '0' },
    });
    await waitFor('the end of the grace', () => next.manager.inventory.gone().has(resource));
    await waitFor('the file to know', async () => !(await readFile(file, 'utf8')).includes(resource));
  });

  test('that is damaged is no reason not to start', async () => {
    await using bench = await startBench();
    const file = join(bench.folder, 'state');
    await writeFile(file, '{"resources":{"vendor.example/gpu":["a"', { mode: 0o600 });
    await using _memory = await startMemory(bench, file);
    assert.equal(bench.amounts(), undefined);
  });

  test('that cannot be written holds nobody up', async () => {
    await using bench = await startBench();
    await writeFile(join(bench.folder, 'no-folder'), '');
    await using _memory = await startMemory(bench, join(bench.folder, 'no-folder/state'));
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      devices: [{ id: 'a' }],
    });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '1/1');
  });
});

describe('the registry’s handler of device plugins', () => {
  const info = (folder: string, change: object = {}) => ({
    type: 'DevicePlugin',
    name: resource,
    endpoint: join(folder, 'p.sock'),
    versions: ['v1beta1'],
    socket: join(folder, 'reg.sock'),
    madeMs: 1,
    ...change,
  });

  test('takes a plugin into use and lets it go', async () => {
    await using bench = await startBench();
    const handler = devicePluginHandler(bench.manager);
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      devices: [{ id: 'a' }],
    });
    const found = info(bench.folder);
    handler.validate(found);
    await handler.register(found, never);
    await waitFor('the list', () => bench.amounts() === '1/1');
    await handler.deregister(found);
    assert.equal(bench.amounts(), '0/1');
    await waitFor('it to be left alone', () => plugin.readers === 0);
  });

  test('refuses versions and names that it does not take', async () => {
    await using bench = await startBench();
    const handler = devicePluginHandler(bench.manager);
    assert.throws(
      () => handler.validate(info(bench.folder, { versions: ['v1alpha1', 'v2'] })),
      /speaks v1alpha1, v2 .* this agent v1beta1 only/,
    );
    assert.throws(() => handler.validate(info(bench.folder, { name: 'cpu' })), /"cpu" is invalid/);
    handler.validate(info(bench.folder, { versions: ['v2', 'v1beta1'] }));
  });

  test('refuses a plugin whose resource is registered by a call', async () => {
    await using bench = await startBench();
    const handler = devicePluginHandler(bench.manager);
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      devices: [{ id: 'a' }],
    });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    assert.throws(() => handler.validate(info(bench.folder)), /registers in one way only/);
  });
});
