import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  computeDeviceAmounts,
  createDevicePluginHandler,
} from '../../../../../src/agent/plugins/devices/index.ts';
import { startFakePlugin } from '../../../../support/fake-device-plugin.ts';
import { waitFor } from '../../../../support/index.ts';
import { never, resource, startBench } from './support.ts';

describe('what the node has of its devices', () => {
  test('is all of them as capacity, the healthy ones as allocatable, and zero once they are gone', async () => {
    await using bench = await startBench({ graceMs: () => 300 });
    const { inventory } = bench.manager;
    assert.deepEqual(computeDeviceAmounts(inventory), { capacity: {}, allocatable: {} });
    const devices = [{ id: 'a' }, { id: 'b', health: 'Unhealthy' }, { id: 'c' }];
    const plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/3');
    assert.deepEqual(computeDeviceAmounts(inventory), {
      capacity: { [resource]: '3' },
      allocatable: { [resource]: '2' },
    });
    await plugin[Symbol.asyncDispose]();
    await waitFor('it to be away', () => computeDeviceAmounts(inventory).allocatable[resource] === '0');
    assert.equal(computeDeviceAmounts(inventory).capacity[resource], '3');
    await waitFor('the end of the grace', () => computeDeviceAmounts(inventory).capacity[resource] === '0');
    assert.equal(computeDeviceAmounts(inventory).allocatable[resource], '0');
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
    const handler = createDevicePluginHandler(bench.manager);
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
    const handler = createDevicePluginHandler(bench.manager);
    assert.throws(
      () => handler.validate(info(bench.folder, { versions: ['v1alpha1', 'v2'] })),
      /speaks v1alpha1, v2 .* this agent v1beta1 only/,
    );
    assert.throws(() => handler.validate(info(bench.folder, { name: 'cpu' })), /"cpu" is invalid/);
    handler.validate(info(bench.folder, { versions: ['v2', 'v1beta1'] }));
  });

  test('refuses a plugin whose resource is registered by a call', async () => {
    await using bench = await startBench();
    const handler = createDevicePluginHandler(bench.manager);
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      devices: [{ id: 'a' }],
    });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    assert.throws(() => handler.validate(info(bench.folder)), /registers in one way only/);
  });
});
