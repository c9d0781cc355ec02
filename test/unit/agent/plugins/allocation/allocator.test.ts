import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ContainerDevices } from '../../../../../src/agent/plugins/allocation/index.ts';
import { AllocationError } from '../../../../../src/agent/plugins/allocation/index.ts';
import { writeFileAtomic } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { createFakeInventory, nothing, podWithUid } from './fake-inventory.ts';
import { heldOnDisk, startAllocator } from './support.ts';

const gpu = 'vendor.example/gpu';
const nic = 'vendor.example/nic';

const idsOf = ({ holdings }: ContainerDevices) =>
  holdings.flatMap(({ devices }) => devices.map(({ id }) => id)).sort();

const failsAs =
  (reason: string, message = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof AllocationError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    return true;
  };

test('a container gets its devices and what they need, and the state file has them', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, [['a', 0], 'b'], {
    allocate: async () => ({
      envs: { GPU: 'a' },
      mounts: [{ containerPath: '/lib/gpu', hostPath: '/opt/gpu', readOnly: true }],
      devices: [{ containerPath: '/dev/gpu', hostPath: '/dev/gpu0', permissions: 'rw' }],
      annotations: { 'vendor.example/x': 'y' },
      cdiDevices: ['vendor.example/gpu=a'],
    }),
  });
  await using started = await startAllocator(folder.path, inventory);

  const given = await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2, [nic]: 0 });

  assert.deepEqual(idsOf(given), ['a', 'b']);
  assert.deepEqual(given.options.cdiDevices, ['vendor.example/gpu=a']);
  const path = join(folder.path, 'device-plugins', 'nodeward_internal_checkpoint');
  const { Data } = JSON.parse(await readFile(path, 'utf8'));
  assert.deepEqual(Data.PodDeviceEntries[0].DeviceIDs, { '0': ['a'], '-1': ['b'] });
  assert.deepEqual(Data.RegisteredDevices, { [gpu]: ['a', 'b'] });
  assert.match(await started.metrics(), /nodeward_devices_allocated\{resource="vendor.example\/gpu"\} 2/);
});

test('after a restart devices stay given, before their plugin is back, and are told again once it is', async () => {
  await using folder = await temporaryFolder();
  const before = createFakeInventory();
  before.offer(gpu, ['a', 'b', 'c']);
  let first: ContainerDevices;
  {
    await using started = await startAllocator(folder.path, before);
    first = await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2 });
  }

  const after = createFakeInventory();
  await using started = await startAllocator(folder.path, after);
  assert.deepEqual(started.allocator.held('p1', 'app'), first);
  await assert.rejects(started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 }), failsAs('unknown'));

  after.offer(gpu, ['a', 'b', 'c']);
  assert.deepEqual(await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2 }), first);
  assert.deepEqual(after.allocated, [], 'the plugin is not asked again');
  const other = await started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 });
  assert.equal([...idsOf(first), ...idsOf(other)].sort().join(), 'a,b,c');
});

test('no device is given twice, however many ask at once', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
  inventory.offer(gpu, ids, {
    options: { preferredAllocation: true },
    preferred: async ({ available, size }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return available.slice(0, size); // everybody is told the same
    },
  });
  await using started = await startAllocator(folder.path, inventory);
  const asking = Array.from({ length: 15 }, (_, index) =>
    started.allocator.allocate(podWithUid(`p${index}`), 'app', { [gpu]: 2 }),
  );
  const answers = await Promise.allSettled(asking);
  const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? idsOf(answer.value) : []));
  assert.equal(given.length, 20);
  assert.equal(new Set(given).size, 20);
  const refused = answers.find((answer) => answer.status === 'rejected');
  failsAs('unavailable', /Requested: 2, Available: 0/)(refused?.reason);
});

test('the same container asking twice at once gets one answer', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b']);
  await using started = await startAllocator(folder.path, inventory);
  const [one, two] = await Promise.all(
    [1, 2].map(() => started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 })),
  );
  assert.deepEqual(one, two);
  assert.equal(inventory.allocated.length, 1);
});

test('devices of an init container go on to the app container; those of a sidecar do not', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b', 'c']);
  await using started = await startAllocator(folder.path, inventory);
  const pod = podWithUid('p1');
  const init = await started.allocator.allocate(pod, 'init', { [gpu]: 1 });
  const sidecar = await started.allocator.allocate(pod, 'sidecar', { [gpu]: 1 });
  assert.deepEqual(idsOf(sidecar), idsOf(init), 'it has what the init container has ended with');
  const app = await started.allocator.allocate(pod, 'app', { [gpu]: 1 });
  assert.notDeepEqual(idsOf(app), idsOf(sidecar), 'the sidecar goes on running');
  const second = await started.allocator.allocate(pod, 'second', { [gpu]: 1 });
  assert.equal([...idsOf(sidecar), ...idsOf(app), ...idsOf(second)].sort().join(), 'a,b,c');
  await assert.rejects(
    started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 }),
    failsAs('unavailable'),
  );
});

test('a preference is followed when it can be, and replaced by our own choice when it cannot', async () => {
  for (const [preference, expected] of [
    [['c', 'd'], 'c,d'],
    [['c'], 'a,b'],
    [['c', 'c'], 'a,b'],
    [['c', 'x'], 'a,b'],
    [[], 'a,b'],
    [new Error('out of order'), 'a,b'],
  ] as const) {
    await using folder = await temporaryFolder();
    const inventory = createFakeInventory();
    inventory.offer(gpu, ['a', 'b', 'c', 'd'], {
      options: { preferredAllocation: true },
      preferred: async () => {
        if (preference instanceof Error) throw preference;
        return preference;
      },
    });
    await using started = await startAllocator(folder.path, inventory);
    const given = await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2 });
    assert.equal(idsOf(given).join(), expected);
  }
});

test('what must be included is named to the plugin, and a preference without it is not followed', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const asked: unknown[] = [];
  inventory.offer(gpu, ['a', 'b', 'c'], {
    options: { preferredAllocation: true },
    preferred: async (request) => {
      asked.push(request);
      return request.mustInclude.length === 0 ? ['b'] : ['a', 'c'];
    },
  });
  await using started = await startAllocator(folder.path, inventory);
  await started.allocator.allocate(podWithUid('p1'), 'init', { [gpu]: 1 });
  const app = await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2 });
  assert.deepEqual(asked[1], { available: ['b', 'a', 'c'], mustInclude: ['b'], size: 2 });
  assert.deepEqual(idsOf(app), ['a', 'b']);
});

test('devices of two resources come from one NUMA node where that is possible', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, [
    ['g0', 0],
    ['g1', 1],
    ['g2', 1],
  ]);
  inventory.offer(nic, [
    ['n0', 0],
    ['n1', 1],
  ]);
  await using started = await startAllocator(folder.path, inventory);
  const given = await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 2, [nic]: 1 });
  assert.deepEqual(idsOf(given), ['g1', 'g2', 'n1']);
  const rest = await started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1, [nic]: 1 });
  assert.deepEqual(idsOf(rest), ['g0', 'n0']);
});

test('unhealthy devices are not given, nor told again, and one that falls ill meanwhile is not given either', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const ill: string[] = [];
  inventory.offer(gpu, ['a', 'b', 'c'], {
    allocate: async (ids) => {
      for (const id of ids) if (ill.includes(id)) inventory.health(gpu, id, false);
      return nothing;
    },
  });
  inventory.health(gpu, 'a', false);
  ill.push('b');
  await using started = await startAllocator(folder.path, inventory);
  const pod = podWithUid('p1');
  await assert.rejects(
    started.allocator.allocate(pod, 'app', { [gpu]: 1 }),
    failsAs('unhealthy', /no longer healthy: b/),
  );
  assert.deepEqual(idsOf(await started.allocator.allocate(pod, 'app', { [gpu]: 1 })), ['c']);
  inventory.health(gpu, 'c', false);
  await assert.rejects(started.allocator.allocate(pod, 'app', { [gpu]: 1 }), failsAs('unhealthy'));
  inventory.leave(gpu);
  await assert.rejects(started.allocator.allocate(pod, 'app', { [gpu]: 1 }), failsAs('away'));
});

test('a refusal of one plugin gives back what the other has given', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a']);
  inventory.offer(nic, ['n'], {
    allocate: async () => {
      throw new Error('the cable is loose');
    },
  });
  await using started = await startAllocator(folder.path, inventory);
  await assert.rejects(
    started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1, [nic]: 1 }),
    failsAs('refused', /plugin of vendor.example\/nic does not allocate: the cable is loose/),
  );
  assert.deepEqual(idsOf(await started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 })), ['a']);
  assert.match(await started.metrics(), /nodeward_device_allocations_total\{result="refused"\} 1/);
});

test('an answer that no runtime could use is refused', async () => {
  const path = { containerPath: '/x', hostPath: '/y' };
  for (const [answer, message] of [
    [
      { mounts: [{ containerPath: 'x', hostPath: '/x', readOnly: false }] },
      /path "x" is not absolute, or has/,
    ],
    [{ mounts: [{ containerPath: '/a/../../etc', hostPath: '/x', readOnly: false }] }, /not absolute/],
    [{ devices: [{ ...path, permissions: 'rwx' }] }, /permissions "rwx"/],
    [{ envs: { 'A=B': 'c' } }, /variable "A=B"/],
    [{ cdiDevices: ['gpu0'] }, /"gpu0" is no qualified name/],
    [{ cdiDevices: [`a${'.a'.repeat(50_000)}`] }, /^.{100,300} is no qualified name/],
    [{ annotations: { long: 'x'.repeat(300_000) } }, /at most 262144 are taken/],
  ] as const) {
    await using folder = await temporaryFolder();
    const inventory = createFakeInventory();
    inventory.offer(gpu, ['a'], { allocate: async () => ({ ...nothing, ...answer }) });
    await using started = await startAllocator(folder.path, inventory);
    const asking = started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
    await assert.rejects(asking, failsAs('answer', message));
    assert.deepEqual(idsOf(started.allocator.held('p1', 'app')), []);
  }
});

test('asking wrongly is told', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b']);
  await using started = await startAllocator(folder.path, inventory);
  const { allocator } = started;
  const pod = podWithUid('p1');
  for (const count of [-1, 0.5, Number.NaN, 100_000])
    await assert.rejects(allocator.allocate(pod, 'app', { [gpu]: count }), failsAs('invalid'));
  await assert.rejects(
    allocator.allocate(pod, 'none', { [gpu]: 1 }),
    failsAs('invalid', /no container "none"/),
  );
  await assert.rejects(allocator.allocate({ ...pod, metadata: {} }, 'app', { [gpu]: 1 }), failsAs('invalid'));
  await allocator.allocate(pod, 'app', { [gpu]: 1 });
  await assert.rejects(allocator.allocate(pod, 'app', { [gpu]: 2 }), failsAs('changed', /from 1 to 2/));
});

test('a pod that is released while its plugin is asked holds nothing afterwards', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  const asked = Promise.withResolvers<void>();
  inventory.offer(gpu, ['a'], {
    allocate: (_ids, cancel) =>
      new Promise((_resolve, reject) => {
        cancel.addEventListener('abort', () => reject(new Error('cancelled')));
        asked.resolve();
      }),
  });
  await using started = await startAllocator(folder.path, inventory);
  const asking = started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
  await asked.promise;
  await Promise.all([assert.rejects(asking, failsAs('released')), started.allocator.release('p1')]);
  assert.deepEqual(idsOf(started.allocator.held('p1', 'app')), []);
  assert.doesNotMatch(await started.metrics(), /nodeward_devices_allocated\{[^}]*\} [1-9]/);
});

test('plugins that asked for it prepare each start', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  let isBroken = false;
  inventory.offer(gpu, ['a'], {
    options: { preStartRequired: true },
    preStart: async () => {
      if (isBroken) throw new Error('no firmware');
    },
  });
  inventory.offer(nic, ['n']);
  await using started = await startAllocator(folder.path, inventory);
  await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1, [nic]: 1 });
  await started.allocator.beforeStart('p1', 'app');
  await started.allocator.beforeStart('p1', 'app');
  assert.deepEqual(inventory.prepared, [`${gpu}: a`, `${gpu}: a`]);
  isBroken = true;
  await assert.rejects(started.allocator.beforeStart('p1', 'app'), failsAs('refused', /no firmware/));
  inventory.leave(gpu);
  await assert.rejects(started.allocator.beforeStart('p1', 'app'), failsAs('away'));
  assert.deepEqual(idsOf(started.allocator.held('p1', 'app')), ['a', 'n']);
});

test('without room for the state file nothing is given; what is released stays released', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b']);
  const clock = createManualClock();
  let isFull = false;
  await using started = await startAllocator(folder.path, inventory, {
    clock,
    async writeFile(path, text) {
      if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      await writeFileAtomic(path, text);
    },
  });
  await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
  isFull = true;
  await assert.rejects(
    started.allocator.allocate(podWithUid('p2'), 'app', { [gpu]: 1 }),
    failsAs('unwritable', /file system is full/),
  );
  await started.allocator.release('p1');
  assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`]);
  isFull = false;
  await clock.advance(60_000);
  await started.allocator.allocate(podWithUid('p3'), 'app', { [gpu]: 2 });
  assert.deepEqual(await heldOnDisk(folder.path), [`p3/app: ${gpu} a,b`]);
});

test('pods that are gone give up their devices; one that nobody knows yet is spared for a while', async () => {
  await using folder = await temporaryFolder();
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a', 'b', 'c']);
  const clock = createManualClock();
  await using started = await startAllocator(folder.path, inventory, { clock });
  const { allocator } = started;
  for (const uid of ['p1', 'p2', 'p3']) await allocator.allocate(podWithUid(uid), 'app', { [gpu]: 1 });
  await allocator.reconcile(new Set(['p1', 'p2']));
  await allocator.reconcile(new Set(['p1']));
  assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`, `p3/app: ${gpu} c`]);
  await clock.advance(60_000);
  await allocator.reconcile(new Set(['p1']));
  assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`]);
});

test('a damaged state file is set aside and the agent starts with nothing given', async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'device-plugins'));
  const path = join(folder.path, 'device-plugins', 'nodeward_internal_checkpoint');
  await writeFile(path, '{"Data":{}}', { mode: 0o600 });
  const inventory = createFakeInventory();
  inventory.offer(gpu, ['a']);
  await using started = await startAllocator(folder.path, inventory);
  await started.allocator.allocate(podWithUid('p1'), 'app', { [gpu]: 1 });
  assert.deepEqual(await heldOnDisk(folder.path), [`p1/app: ${gpu} a`]);
});
