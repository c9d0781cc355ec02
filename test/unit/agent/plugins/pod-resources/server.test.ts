import assert from 'node:assert/strict';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import type { ContainerDevices } from '../../../../../src/agent/plugins/allocation/index.ts';
import type { DeviceResource } from '../../../../../src/agent/plugins/devices/index.ts';
import {
  AllocatableResourcesResponseSchema,
  ListPodResourcesResponseSchema,
} from '../../../../../src/agent/plugins/pod-resources/gen/pod-resources-v1_pb.js';
import { podResourcesServer } from '../../../../../src/agent/plugins/pod-resources/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { createFakeInventory, nothing } from '../allocation/fake-inventory.ts';
import type { RawClient } from './raw-client.ts';
import { openRawClient, wire } from './raw-client.ts';

const gpu = 'vendor.example/gpu';

interface Served extends AsyncDisposable {
  readonly socket: string;
  readonly client: RawClient;
  metrics(): Promise<string>;
}

interface World {
  pods?: Pod[];
  /** Device and NUMA node that each `uid/container` holds. */
  held?: Record<string, [string, number][]>;
  resources?: ReadonlyMap<string, DeviceResource>;
  clock?: Clock;
  isComplete?: boolean;
}

async function serve({
  pods = [],
  held = {},
  resources = new Map(),
  clock = systemClock,
  isComplete = true,
}: World): Promise<Served> {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const socket = join(folder.path, 'pod-resources', 'nodeward.sock');
  const metrics = createMetrics();
  const run = podResourcesServer({
    pods: { pods: () => pods },
    isComplete: () => isComplete,
    allocations: { held: (uid, container) => devicesOf(held[`${uid}/${container}`] ?? []) },
    inventory: { resources: () => resources },
    dynamicResources: (uid, container) =>
      uid === 'u1' && container === 'app' ? [{ claimName: 'c', claimNamespace: 'ns' }] : [],
    clock,
    log: silentLogger(),
    metrics,
  })(socket);
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const ended = run(stop.signal, ready.resolve);
  stack.defer(async () => {
    stop.abort();
    await ended;
  });
  await ready.promise;
  const client = stack.use(openRawClient(socket));
  return {
    socket,
    client,
    metrics: () => metrics.metrics(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function devicesOf(devices: [string, number][]): ContainerDevices {
  const holding = {
    podUid: '',
    containerName: '',
    resourceName: gpu,
    devices: devices.map(([id, node]) => ({ id, numaNodes: node < 0 ? [] : [node] })),
    response: nothing,
  };
  return { holdings: devices.length === 0 ? [] : [holding], options: nothing };
}

function pod(name: string, uid = name, phase = 'Running'): Pod {
  return {
    metadata: { name, uid, namespace: 'ns' },
    spec: {
      initContainers: [{ name: 'once' }, { name: 'sidecar', restartPolicy: 'Always' }],
      containers: [{ name: 'app' }],
    },
    status: { phase },
  };
}

test('a container is told with its devices, by the field numbers of the interface', async () => {
  await using served = await serve({
    pods: [pod('web', 'u1'), pod('done', 'u2', 'Succeeded')],
    held: {
      'u1/app': [
        ['g0', 1],
        ['g1', -1],
      ],
      'u1/once': [['g0', 1]],
      'u1/sidecar': [['s', -1]],
    },
  });
  const sidecar = wire([1, 'sidecar'], [2, wire([1, gpu], [2, 's'])]);
  const app = wire(
    [1, 'app'],
    [2, wire([1, gpu], [2, 'g0'], [3, wire([1, wire([1, 1])])])],
    [2, wire([1, gpu], [2, 'g1'])],
    [5, wire([2, 'c'], [3, 'ns'])],
  );
  const web = wire([1, 'web'], [2, 'ns'], [3, sidecar], [3, app]);

  const list = await served.client.call('/v1.PodResourcesLister/List');
  assert.equal(list.toString('hex'), wire([1, web]).toString('hex'));
  const one = await served.client.call('/v1.PodResourcesLister/Get', wire([1, 'web'], [2, 'ns']));
  assert.equal(one.toString('hex'), wire([1, web]).toString('hex'));

  const alpha = await served.client.call('/v1alpha1.PodResourcesLister/List');
  const alphaApp = wire([1, 'app'], [2, wire([1, gpu], [2, 'g0'])], [2, wire([1, gpu], [2, 'g1'])]);
  const alphaWeb = wire([1, 'web'], [2, 'ns'], [3, sidecar], [3, alphaApp]);
  assert.equal(alpha.toString('hex'), wire([1, alphaWeb]).toString('hex'));
});

test('a pod that is not there is told as the reference tells it', async () => {
  await using served = await serve({ pods: [pod('web')] });
  const asking = served.client.call('/v1.PodResourcesLister/Get', wire([1, 'web'], [2, 'other']));
  await assert.rejects(asking, { code: status.NOT_FOUND, details: 'pod web in namespace other not found' });
  assert.match(await served.metrics(), /requests_total\{version="v1",method="Get",result="not-found"\} 1/);
});

test('a pod that is not there yet is told to be asked for again', async () => {
  await using served = await serve({ isComplete: false });
  const asking = served.client.call('/v1.PodResourcesLister/Get', wire([1, 'web'], [2, 'ns']));
  await assert.rejects(asking, {
    code: status.UNAVAILABLE,
    details: /^pod web in namespace ns not found; not all/,
  });
});

test('allocatable is what is healthy, given away or not', async () => {
  const inventory = createFakeInventory();
  inventory.offer(gpu, [['g0', 0], 'g1', 'g2']);
  inventory.health(gpu, 'g2', false);
  await using served = await serve({ resources: inventory.resources() });
  const bytes = await served.client.call('/v1.PodResourcesLister/GetAllocatableResources');
  const { devices, cpuIds, memory } = fromBinary(AllocatableResourcesResponseSchema, bytes);
  assert.deepEqual(
    devices.map(({ deviceIds, topology }) => [...deviceIds, ...(topology?.nodes ?? []).map(({ ID }) => ID)]),
    [['g0', 0n], ['g1']],
  );
  assert.deepEqual([cpuIds, memory], [[], []]);
});

test('ten at once are answered, then a hundred a second', async () => {
  const clock = createManualClock();
  await using served = await serve({ clock });
  const askMany = async (count: number) => {
    const calls = Array.from({ length: count }, (_, index) =>
      served.client.call(`/${index % 2 === 0 ? 'v1' : 'v1alpha1'}.PodResourcesLister/List`),
    );
    const answers = await Promise.allSettled(calls);
    const refused = answers.filter((answer) => answer.status === 'rejected');
    for (const { reason } of refused) {
      assert.equal(reason.code, status.RESOURCE_EXHAUSTED);
      assert.equal(reason.details, 'rejected by rate limit');
    }
    return count - refused.length;
  };
  assert.equal(await askMany(30), 10);
  assert.equal(await askMany(5), 0);
  await clock.advance(50);
  assert.equal(await askMany(30), 5);
  await clock.advance(60_000);
  assert.equal(await askMany(30), 10);
});

test('many clients at once see the same whole answer of ten thousand pods', async () => {
  const pods = Array.from({ length: 10_000 }, (_, index) => pod(`pod-${index}`, `u${index + 10}`));
  const held = Object.fromEntries(
    pods.map(({ metadata }, index) => [`${metadata?.uid}/app`, [[`g${index}`, 0]]]),
  );
  await using served = await serve({ pods, held: held as Record<string, [string, number][]> });
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      using client = openRawClient(served.socket);
      return await client.call('/v1.PodResourcesLister/List');
    }),
  );
  const [first] = answers;
  assert.ok(first !== undefined && answers.every((answer) => answer.equals(first)));
  const { podResources } = fromBinary(ListPodResourcesResponseSchema, first);
  assert.equal(podResources.length, 10_000);
  assert.equal(podResources.at(-1)?.containers[1]?.devices[0]?.deviceIds[0], 'g9999');
});

test('garbage and unknown methods harm nobody', async () => {
  await using served = await serve({ pods: [pod('web')] });
  await assert.rejects(served.client.call('/v1.PodResourcesLister/Get', Buffer.from('ffffffff', 'hex')));
  await assert.rejects(served.client.call('/v1.PodResourcesLister/Delete'), { code: status.UNIMPLEMENTED });
  const long = served.client.call('/v1.PodResourcesLister/Get', wire([1, 'x'.repeat(10_000)]));
  await assert.rejects(long, ({ details }: { details: string }) => details.length < 600);
  assert.ok((await served.client.call('/v1.PodResourcesLister/List')).length > 0);
});

test('the socket is for its owner alone, is made anew when it was removed, and goes at the end', async () => {
  const clock = createManualClock();
  let socket: string;
  {
    await using served = await serve({ clock });
    ({ socket } = served);
    assert.equal((await lstat(socket)).mode & 0o777, 0o600);
    assert.equal((await lstat(join(socket, '..'))).mode & 0o777, 0o700);
    await rm(socket);
    await waitFor('the socket again', async () => {
      await clock.advance(5000);
      return (await lstat(socket)).isSocket();
    });
    using client = openRawClient(socket);
    await client.call('/v1.PodResourcesLister/List');
  }
  await assert.rejects(lstat(socket), { code: 'ENOENT' });
});
