/** Devices of real plugin processes, given to containers: no pods run, the allocator is called as their runner will. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { DeviceAllocations } from '../../src/agent/plugins/allocation/index.ts';
import { createDeviceAllocations } from '../../src/agent/plugins/allocation/index.ts';
import { DeviceManager, registrationServer, rememberDevices } from '../../src/agent/plugins/devices/index.ts';
import { podResourcesServer } from '../../src/agent/plugins/pod-resources/index.ts';
import type { Pod } from '../../src/api/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { startFakePlugin } from '../support/fake-device-plugin.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { openRawClient } from '../unit/agent/plugins/pod-resources/raw-client.ts';
import { runDevicePlugin } from './example-plugins/run-device-plugin.ts';

const gpu = 'vendor.example/gpu';
const nic = 'vendor.example/nic';
const common = { clock: systemClock, log: silentLogger() };

interface Node extends AsyncDisposable {
  readonly folder: string;
  readonly allocations: DeviceAllocations;
  readonly manager: DeviceManager;
  /** Waits until so many devices of a resource are healthy. */
  healthy(count: number, resource?: string): Promise<void>;
  /** The text that the pod resources service answers, names and ids in clear. */
  listed(): Promise<string>;
}

/** The device manager, the allocator and the pod resources service, as the agent puts them together. */
async function startNode(rootDir: string, pods: Pod[] = []): Promise<Node> {
  const stack = new AsyncDisposableStack();
  const manager = stack.use(new DeviceManager(common));
  const { inventory } = manager;
  const source = { pods: () => pods, onChange: () => ({ [Symbol.dispose]: () => undefined }) };
  const sources = { inventory, pods: source, isComplete: () => false, ...common };
  const allocations = createDeviceAllocations({
    rootDir,
    remember: (before) => rememberDevices(inventory, before),
    ...sources,
  });
  const folder = join(rootDir, 'device-plugins');
  const socket = join(rootDir, 'pod-resources/nodeward.sock');
  const serve = podResourcesServer({ ...sources, allocations: allocations.allocator });
  const register = registrationServer({ manager, socket: join(folder, 'nodeward.sock'), ...common });
  for (const run of [allocations.run, register, serve(socket)]) {
    const stop = new AbortController();
    const ready = Promise.withResolvers<void>();
    const ended = run(stop.signal, ready.resolve);
    stack.defer(async () => {
      stop.abort();
      await ended;
    });
    await ready.promise;
  }
  return {
    folder,
    allocations,
    manager,
    async healthy(count, resource = gpu) {
      await waitFor(`${count} healthy devices of ${resource}`, () => {
        const devices = inventory.resources().get(resource)?.devices.values() ?? [];
        return [...devices].filter(({ healthy }) => healthy).length === count;
      });
    },
    async listed() {
      using client = openRawClient(socket);
      return (await client.call('/v1.PodResourcesLister/List')).toString('latin1');
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function podNamed(name: string): Pod {
  return {
    metadata: { name, uid: `uid-${name}`, namespace: 'default' },
    spec: { containers: [{ name: 'app' }] },
  };
}

const two = [
  { id: 'd0', numaNodes: [0] },
  { id: 'd1', numaNodes: [1] },
];

describe('devices of a plugin process', { timeout: 60_000 }, () => {
  test('are given, listed, survive plugin and agent, and are given to another once the pod is gone', async () => {
    await using home = await temporaryFolder('allocation-');
    const [web, other] = [podNamed('web'), podNamed('other')];
    {
      await using node = await startNode(home.path, [web]);
      await using plugin = await runDevicePlugin({ folder: node.folder, resource: gpu, devices: two });
      await node.healthy(2);
      const given = await node.allocations.allocator.allocate(web, 'app', { [gpu]: 1 });
      const [id = ''] = given.holdings.flatMap(({ devices }) => devices.map((device) => device.id));
      assert.deepEqual(given.options.cdiDevices, [`fake.example/device=${id}`]);
      assert.deepEqual(given.options.envs, { FAKE_DEVICES: id });
      assert.deepEqual(given.options.devices, [
        { containerPath: `/dev/${id}`, hostPath: '/dev/null', permissions: 'rw' },
      ]);
      assert.ok((await node.listed()).includes(id));

      plugin.kill('SIGKILL');
      await node.healthy(0);
      assert.ok((await node.listed()).includes(id), 'what a container has it has without its plugin');
      const late = node.allocations.allocator.allocate(other, 'app', { [gpu]: 1 });
      await assert.rejects(late, { reason: 'away' });
    }

    await using node = await startNode(home.path, [web]);
    assert.ok((await node.listed()).includes(gpu), 'before any plugin is there');
    await using _plugin = await runDevicePlugin({ folder: node.folder, resource: gpu, devices: two });
    await node.healthy(2);
    const { allocator } = node.allocations;
    await assert.rejects(allocator.allocate(other, 'app', { [gpu]: 2 }), {
      message: `requested number of devices unavailable for ${gpu}. Requested: 2, Available: 1`,
    });
    const again = await allocator.allocate(web, 'app', { [gpu]: 1 });
    await allocator.release('uid-web');
    const all = await allocator.allocate(other, 'app', { [gpu]: 2 });
    assert.equal(all.holdings[0]?.devices.length, 2);
    assert.equal(again.holdings[0]?.devices.length, 1);
    assert.doesNotMatch(await node.listed(), /d0/);
  });

  test('that fall ill are given to nobody', async () => {
    await using home = await temporaryFolder('allocation-');
    await using node = await startNode(home.path);
    await using plugin = await runDevicePlugin({ folder: node.folder, resource: gpu, devices: two });
    await node.healthy(2);
    plugin.command({ do: 'health', id: 'd0', health: 'Unhealthy' });
    await node.healthy(1);
    const given = await node.allocations.allocator.allocate(podNamed('web'), 'app', { [gpu]: 1 });
    assert.deepEqual(given.holdings[0]?.devices, [{ id: 'd1', numaNodes: [1] }]);
  });

  test('are asked for at once by many, and each goes to one', async () => {
    await using home = await temporaryFolder('allocation-');
    await using node = await startNode(home.path);
    const devices = Array.from({ length: 32 }, (_, index) => ({ id: `d${index}`, numaNodes: [index % 2] }));
    await using _plugin = await runDevicePlugin({ folder: node.folder, resource: gpu, devices });
    await node.healthy(32);
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        node.allocations.allocator.allocate(podNamed(`p${index}`), 'app', { [gpu]: 1 }),
      ),
    );
    const given = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.holdings.flatMap((holding) => holding.devices[0]?.id) : [],
    );
    assert.equal(given.length, 32);
    assert.equal(new Set(given).size, 32);
  });
});

describe('a plugin over a real socket', { timeout: 60_000 }, () => {
  test('is asked for its preference and prepares each start', async () => {
    await using home = await temporaryFolder('allocation-');
    await using node = await startNode(home.path);
    const socket = join(node.folder, 'gpu.sock');
    await using plugin = await startFakePlugin({
      socket,
      devices: [...two, { id: 'd2', numaNodes: [1] }],
      preferredAllocation: true,
      preStartRequired: true,
    });
    await node.manager.register({ resource: gpu, socket, way: 'registration' }, AbortSignal.timeout(10_000));
    await node.healthy(3);
    const { allocator } = node.allocations;
    const given = await allocator.allocate(podNamed('web'), 'app', { [gpu]: 2 });
    assert.deepEqual(
      given.holdings[0]?.devices.map(({ id }) => id),
      ['d1', 'd2'],
      'both on node 1',
    );
    await allocator.beforeStart('uid-web', 'app');
    const calls = plugin.calls.filter((call) => !['options', 'list'].includes(call));
    assert.deepEqual(calls, ['preferred', 'allocate d1+d2', 'preStart d1+d2']);
  });

  test('that hangs is given up in time, holds up no other, and its devices stay free', async () => {
    await using home = await temporaryFolder('allocation-');
    await using node = await startNode(home.path);
    const sockets = { [gpu]: join(node.folder, 'gpu.sock'), [nic]: join(node.folder, 'nic.sock') };
    await using _hanging = await startFakePlugin({
      socket: sockets[gpu] ?? '',
      devices: two,
      hang: ['allocate'],
    });
    await using _well = await startFakePlugin({ socket: sockets[nic] ?? '', devices: [{ id: 'n0' }] });
    for (const [resource, socket] of Object.entries(sockets)) {
      await node.manager.register({ resource, socket, way: 'registration' }, AbortSignal.timeout(10_000));
    }
    await node.healthy(2);
    await node.healthy(1, nic);
    const { allocator } = node.allocations;
    const asking = allocator.allocate(podNamed('web'), 'app', { [gpu]: 2 });
    const refused = assert.rejects(asking, { reason: 'refused' });
    await allocator.allocate(podNamed('other'), 'app', { [nic]: 1 });
    await refused;
    assert.deepEqual(allocator.held('uid-web', 'app').holdings, []);
    assert.deepEqual([...node.allocations.users().keys()], [nic]);
  });
});
