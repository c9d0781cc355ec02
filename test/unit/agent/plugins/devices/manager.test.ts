import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { limits } from '../../../../../src/agent/plugins/devices/limits.ts';
import { startFakePlugin } from '../../../../support/fake-device-plugin.ts';
import { waitFor } from '../../../../support/index.ts';
import { never, resource, startBench } from './support.ts';

const two = [
  { id: 'd0', numaNodes: [0] },
  { id: 'd1', numaNodes: [1] },
];

describe('a registered device plugin', () => {
  test('has its devices in the inventory, and their health as it changes', async () => {
    await using bench = await startBench();
    await using plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    assert.deepEqual(bench.manager.inventory.resources().get(resource)?.devices.get('d1')?.numaNodes, [1]);

    plugin.health('d1', 'Unhealthy');
    await waitFor('one to be unhealthy', () => bench.amounts() === '1/2');
    plugin.health('d1', 'Healthy');
    await waitFor('it to be well again', () => bench.amounts() === '2/2');
    plugin.list([{ id: 'd0' }]);
    await waitFor('one to be gone', () => bench.amounts() === '1/1');
    assert.equal(bench.manager.attachment(resource)?.state, 'serving');
  });

  test('answers calls through the inventory', async () => {
    await using bench = await startBench();
    const socket = join(bench.folder, 'p.sock');
    await using plugin = await startFakePlugin({
      socket,
      devices: two,
      preStartRequired: true,
      preferredAllocation: true,
    });
    await bench.manager.register({ resource, socket, way: 'registration' }, never);
    const found = bench.manager.inventory.resources().get(resource);
    assert.deepEqual(found?.options, { preStartRequired: true, preferredAllocation: true });
    const calls = found?.plugin;
    assert.ok(calls);
    assert.deepEqual(
      await calls.preferred({ available: ['a', 'b', 'c'], mustInclude: ['a'], size: 2 }, never),
      ['a', 'c'],
    );
    const given = await calls.allocate(['d0', 'd1'], never);
    assert.equal(given.envs['FAKE_DEVICES'], 'd0,d1');
    assert.deepEqual(given.cdiDevices, ['fake.example/device=d0', 'fake.example/device=d1']);
    assert.deepEqual(given.devices[0], {
      containerPath: '/dev/d0',
      hostPath: '/dev/null',
      permissions: 'rw',
    });
    await calls.preStart(['d0'], never);
    assert.deepEqual(
      plugin.calls.filter((call) => /^(?:allocate|preStart)/.test(call)),
      ['allocate d0+d1', 'preStart d0'],
    );
    assert.match(
      await bench.metrics.metrics(),
      /nodeward_device_plugin_call_seconds_count\{method="Allocate",result="ok"\} 1/,
    );
  });

  test('that dies leaves its devices unhealthy at once, and nobody can allocate', async () => {
    await using bench = await startBench();
    const plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    await plugin[Symbol.asyncDispose]();
    await waitFor('it to be away', () => bench.amounts() === '0/2');
    assert.equal(bench.manager.inventory.resources().get(resource)?.plugin, undefined);
    await waitFor('the end', () => bench.manager.attachment(resource)?.state === 'ended');
  });

  test('that comes back and registers again has its devices again', async () => {
    await using bench = await startBench();
    const socket = join(bench.folder, 'p.sock');
    const first = await startFakePlugin({ socket, devices: two });
    await bench.manager.register({ resource, socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    await first[Symbol.asyncDispose]();
    await waitFor('it to be away', () => bench.amounts() === '0/2');
    await using _second = await startFakePlugin({ socket, devices: [...two, { id: 'd2' }] });
    await bench.manager.register({ resource, socket, way: 'registration' }, never);
    await waitFor('all three', () => bench.amounts() === '3/3');
  });

  test('whose list alone ends is asked again on the same socket', async () => {
    await using bench = await startBench();
    await using plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    plugin.endLists();
    await waitFor('it to be away', () => bench.amounts() === '0/2');
    await waitFor('it to be back', () => bench.amounts() === '2/2');
    assert.match(bench.manager.attachment(resource)?.lastError ?? '', /ended its list/);
  });

  test('that does not come back is forgotten after its grace, and the node is told that it has none', async () => {
    await using bench = await startBench({ graceMs: () => 100 });
    const plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    await plugin[Symbol.asyncDispose]();
    await waitFor('it to be gone', () => bench.amounts() === undefined);
    assert.deepEqual([...bench.manager.inventory.gone()], [resource]);
    assert.equal(bench.manager.attachment(resource), undefined);
  });

  test('is replaced by a newer one of its resource, whose end the older does not bring about', async () => {
    await using bench = await startBench();
    const older = await startFakePlugin({ socket: join(bench.folder, 'a.sock'), devices: two });
    await using newer = await startFakePlugin({
      socket: join(bench.folder, 'b.sock'),
      devices: [{ id: 'n0' }],
    });
    await bench.manager.register({ resource, socket: older.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    await bench.manager.register({ resource, socket: newer.socket, way: 'registration' }, never);
    await waitFor('the newer list', () => bench.amounts() === '1/1');
    await waitFor('the older to be left alone', () => older.readers === 0);
    await older[Symbol.asyncDispose]();
    newer.list([{ id: 'n0' }, { id: 'n1' }]);
    await waitFor('the newer to count on', () => bench.amounts() === '2/2');
  });

  test('that floods is held to the newest list, and others are served meanwhile', async () => {
    await using bench = await startBench();
    const many = Array.from({ length: 500 }, (_, index) => ({ id: `d${index}` }));
    await using plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: many });
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '500/500');
    let told = 0;
    using _changes = bench.manager.inventory.onChange(() => {
      told += 1;
    });
    for (let turn = 0; turn < 50; turn += 1) plugin.health('d0', turn % 2 === 0 ? 'Unhealthy' : 'Healthy');
    plugin.flood(50);
    await using other = await startFakePlugin({ socket: join(bench.folder, 'o.sock'), devices: two });
    const others = 'vendor.example/other';
    await bench.manager.register({ resource: others, socket: other.socket, way: 'registration' }, never);
    await waitFor('the other list', () => bench.amounts(others) === '2/2');
    plugin.list([{ id: 'last' }]);
    await waitFor('the last list', () => bench.amounts() === '1/1');
    assert.ok(told < 50, `${told} changes told of 100 lists`);
  });
});

describe('a registration', () => {
  test('of a plugin that never answers ends, and holds up no other', async () => {
    await using bench = await startBench();
    await using hanging = await startFakePlugin({ socket: join(bench.folder, 'h.sock'), hang: ['options'] });
    await using plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    const end = new AbortController();
    const stuck = bench.manager.register(
      { resource: 'vendor.example/stuck', socket: hanging.socket, way: 'registration' },
      end.signal,
    );
    await waitFor('it to be asked', () => hanging.calls.includes('options'));
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    end.abort();
    await assert.rejects(stuck);
    assert.equal(bench.manager.attachment('vendor.example/stuck'), undefined);
    assert.equal(bench.amounts('vendor.example/stuck'), undefined);
  });

  test('waits for a plugin that listens a little later', async () => {
    await using bench = await startBench();
    const socket = join(bench.folder, 'late.sock');
    const registered = bench.manager.register({ resource, socket, way: 'registration' }, never);
    await using _plugin = await startFakePlugin({ socket, devices: two });
    await registered;
    await waitFor('the list', () => bench.amounts() === '2/2');
  });

  test('fails in the words of a plugin that cannot tell its options', async () => {
    await using bench = await startBench();
    await using plugin = await startFakePlugin({
      socket: join(bench.folder, 'p.sock'),
      fail: { options: 'no driver here' },
    });
    await assert.rejects(
      bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never),
      /no driver here/,
    );
    assert.equal(bench.amounts(), undefined);
  });

  test('is refused for a name that is none, and beyond so many resources', async () => {
    await using bench = await startBench();
    const candidate = (name: string) => ({
      resource: name,
      socket: join(bench.folder, 'p.sock'),
      way: 'registration' as const,
    });
    assert.throws(
      () => bench.manager.check(candidate('cpu')),
      /"cpu" is invalid: an extended resource has a domain/,
    );
    for (let count = 0; count < limits.resources; count += 1)
      bench.manager.inventory.remembered(`vendor.example/r${count}`, []);
    assert.throws(() => bench.manager.check(candidate('vendor.example/more')), /256 resources/);
    bench.manager.check(candidate('vendor.example/r0'));
  });

  test('gives way to one of the same resource that comes while it waits', async () => {
    await using bench = await startBench();
    await using hanging = await startFakePlugin({ socket: join(bench.folder, 'h.sock'), hang: ['options'] });
    await using plugin = await startFakePlugin({ socket: join(bench.folder, 'p.sock'), devices: two });
    const stuck = bench.manager.register({ resource, socket: hanging.socket, way: 'registration' }, never);
    await waitFor('it to be asked', () => hanging.calls.includes('options'));
    const refused = assert.rejects(stuck, /a newer registration of vendor\.example\/gpu has come/);
    await bench.manager.register({ resource, socket: plugin.socket, way: 'registration' }, never);
    await refused;
    await waitFor('the list', () => bench.amounts() === '2/2');
  });
});

describe('the two ways to register', () => {
  const registry = (folder: string, name: string, madeMs: number) =>
    ({
      resource,
      socket: join(folder, `${name}.sock`),
      way: 'registry',
      key: join(folder, `${name}-reg.sock`),
      madeMs,
    }) as const;

  test('exclude each other for one resource while the first lives', async () => {
    await using bench = await startBench();
    const first = await startFakePlugin({ socket: join(bench.folder, 'a.sock'), devices: two });
    await using second = await startFakePlugin({ socket: join(bench.folder, 'b.sock'), devices: two });
    await bench.manager.register({ resource, socket: first.socket, way: 'registration' }, never);
    await assert.rejects(
      bench.manager.register(registry(bench.folder, 'b', 1), never),
      /gpu is registered already, by a call .*a\.sock; a device plugin registers in one way only/,
    );
    assert.deepEqual(second.calls, [], 'the refused one was not asked');
    await first[Symbol.asyncDispose]();
    await waitFor('the first to be away', () =>
      ['away', 'ended'].includes(bench.manager.attachment(resource)?.state ?? ''),
    );
    await bench.manager.register(registry(bench.folder, 'b', 1), never);
    await waitFor('the second', () => bench.amounts() === '2/2');
    assert.equal(bench.manager.attachment(resource)?.way, 'registry');
  });

  test('let the older of two in the registry count again when the newer is gone', async () => {
    await using bench = await startBench();
    await using _older = await startFakePlugin({ socket: join(bench.folder, 'old.sock'), devices: two });
    const newer = await startFakePlugin({ socket: join(bench.folder, 'new.sock'), devices: [{ id: 'n0' }] });
    await bench.manager.register(registry(bench.folder, 'old', 1), never);
    await bench.manager.register(registry(bench.folder, 'new', 2), never);
    await waitFor('the newer', () => bench.amounts() === '1/1');
    assert.throws(() => bench.manager.check(registry(bench.folder, 'third', 1)), /has a newer plugin/);
    await newer[Symbol.asyncDispose]();
    bench.manager.deregister(registry(bench.folder, 'new', 2));
    await waitFor('the older again', () => bench.amounts() === '2/2');
    bench.manager.deregister(registry(bench.folder, 'old', 1));
    assert.equal(bench.amounts(), '0/2');
  });

  test('let one of the registry count again when the caller that took its place is gone for good', async () => {
    await using bench = await startBench({ graceMs: () => 100 });
    const a = join(bench.folder, 'a.sock');
    const first = await startFakePlugin({ socket: a, devices: two });
    await bench.manager.register(registry(bench.folder, 'a', 1), never);
    await waitFor('the first', () => bench.amounts() === '2/2');
    await first[Symbol.asyncDispose]();
    await waitFor('it to be away', () => bench.manager.attachment(resource)?.state === 'away');
    const caller = await startFakePlugin({ socket: join(bench.folder, 'b.sock'), devices: [{ id: 'b' }] });
    await bench.manager.register({ resource, socket: caller.socket, way: 'registration' }, never);
    await waitFor('the caller', () => bench.amounts() === '1/1');
    await using _again = await startFakePlugin({ socket: a, devices: two });
    await caller[Symbol.asyncDispose]();
    await waitFor('the first again', () => bench.amounts() === '2/2');
    assert.equal(bench.manager.attachment(resource)?.way, 'registry');
  });

  test('look for a plugin of the registry again, also when its socket is another', async () => {
    await using bench = await startBench();
    const socket = join(bench.folder, 'a.sock');
    const first = await startFakePlugin({ socket, devices: two });
    await bench.manager.register(registry(bench.folder, 'a', 1), never);
    await waitFor('the list', () => bench.amounts() === '2/2');
    await first[Symbol.asyncDispose]();
    await waitFor('it to be away', () => bench.amounts() === '0/2');
    await using _again = await startFakePlugin({ socket, devices: [{ id: 'x' }] });
    await waitFor('it to be found again', () => bench.amounts() === '1/1');
  });
});
