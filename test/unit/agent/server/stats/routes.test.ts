import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  ContainerState,
  ImageService,
  PodSandboxState,
  RuntimeService,
} from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { openConnection } from '../../../../../src/agent/runtime/index.ts';
import type { AgentRoute } from '../../../../../src/agent/server/index.ts';
import type { NodeUsage } from '../../../../../src/agent/server/stats/index.ts';
import { RuntimeSource, statsRoutes } from '../../../../../src/agent/server/stats/index.ts';
import { isRecord } from '../../../../../src/api/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { FakeRuntime } from '../../runtime/fake-runtime.ts';
import { startFakeRuntime } from '../../runtime/fake-runtime.ts';
import { admin, ask, cluster, startServer } from '../running-server.ts';

const { method } = RuntimeService;
const second = 1_000_000_000n;
/** 2025-01-01T00:00:00Z in nanoseconds, and so many seconds later. */
const at = (seconds: number) => 1_735_689_600n * second + BigInt(seconds) * second;
const web = { name: 'web', namespace: 'default', uid: 'u1' };
const job = { name: 'job', namespace: 'default', uid: 'u2' };

let folder = '';
let fake: FakeRuntime;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stats-'));
});
after(() => rm(folder, { recursive: true }));
beforeEach(async (context) => {
  fake = await startFakeRuntime(join(folder, `${Math.random().toString(36).slice(2)}.sock`));
  twoPods(fake);
  if ('after' in context) context.after(() => fake.kill());
});

/** `web` runs with a container that was started again once; `job` has ended well. */
function twoPods(runtime: FakeRuntime): void {
  const ready = PodSandboxState.SANDBOX_READY;
  const labels = { app: 'web', 'io.kubernetes.pod.name': 'web' };
  runtime.on(method.listPodSandbox, () => ({
    items: [
      { id: 's0', metadata: web, state: PodSandboxState.SANDBOX_NOTREADY, createdAt: at(0), labels },
      { id: 's1', metadata: web, state: ready, createdAt: at(10), labels, annotations: { note: 'x' } },
      { id: 's2', metadata: job, state: PodSandboxState.SANDBOX_NOTREADY, createdAt: at(20) },
    ],
  }));
  const image = { image: 'registry/app:1' };
  const running = { state: ContainerState.CONTAINER_RUNNING, image, imageRef: 'sha256:1', createdAt: at(12) };
  const exited = { state: ContainerState.CONTAINER_EXITED, image, imageRef: 'sha256:1', createdAt: at(11) };
  const counted = { 'io.kubernetes.container.restartCount': '5' }; // with those in an earlier sandbox
  const containers = [
    { ...exited, id: 'c0', podSandboxId: 's1', metadata: { name: 'app', attempt: 0 } },
    { ...running, id: 'c1', podSandboxId: 's1', metadata: { name: 'app', attempt: 1 }, annotations: counted },
    { ...exited, id: 'c2', podSandboxId: 's2', metadata: { name: 'work', attempt: 0 } },
  ];
  runtime.on(method.listContainers, () => ({ containers }));
  runtime.on(method.podSandboxStatus, () => ({
    status: { network: { ip: '10.0.0.5', additionalIps: [{ ip: 'fd00::5' }] } },
  }));
  runtime.on(method.containerStatus, ({ containerId }) => {
    const found = containers.find(({ id }) => id === containerId);
    const times =
      containerId === 'c1'
        ? { startedAt: at(13) }
        : { startedAt: at(11), finishedAt: at(12), exitCode: containerId === 'c0' ? 137 : 0, reason: '' };
    return { status: { ...found, ...times } };
  });
}

const node: NodeUsage = {
  startTime: '2025-01-01T00:00:00Z',
  cpu: { time: '2025-01-02T00:00:00Z', usageNanoCores: 5, usageCoreNanoSeconds: 6 },
  memory: { time: '2025-01-02T00:00:00Z', workingSetBytes: 7 },
  network: { time: '2025-01-02T00:00:00Z', name: 'eth0', rxBytes: 1, interfaces: [] },
  fs: { time: '2025-01-02T00:00:00Z', capacityBytes: 100, usedBytes: 40 },
  imageFs: undefined,
  containerFs: undefined,
  rlimit: { time: '2025-01-02T00:00:00Z', maxpid: 100, curproc: 3 },
};

async function answerOf(path: string, identity = admin) {
  using connection = openConnection([fake.endpoint]);
  const routes = statsRoutes({
    nodeName: 'node-a',
    addresses: () => ['node-a', '192.0.2.1'],
    runtimeName: () => 'containerd',
    source: new RuntimeSource({ connection, images: connection, clock: systemClock }),
    nodeUsage: () => Promise.resolve(node),
    clock: systemClock,
  });
  await using server = await startServer({ more: routes });
  return await ask(server.port, 'GET', path, identity);
}

async function jsonOf(path: string): Promise<Record<string, unknown>> {
  const { code, body, headers } = await answerOf(path);
  assert.deepEqual([code, headers['content-type']], [200, 'application/json; charset=utf-8']);
  const parsed: unknown = JSON.parse(body);
  assert.ok(isRecord(parsed));
  return parsed;
}

describe('/pods', () => {
  test('is a PodList of what the runtime runs and has run', async () => {
    const list = await jsonOf('/pods');
    assert.deepEqual([list['kind'], list['apiVersion']], ['PodList', 'v1']);
    assert.deepEqual(list['items'], [
      {
        metadata: { ...job, creationTimestamp: '2025-01-01T00:00:20Z' },
        spec: { nodeName: 'node-a', containers: [{ name: 'work', image: 'registry/app:1' }] },
        status: {
          phase: 'Succeeded',
          conditions: [
            { type: 'PodReadyToStartContainers', status: 'False' },
            { type: 'ContainersReady', status: 'False' },
            { type: 'Ready', status: 'False' },
          ],
          hostIP: '192.0.2.1',
          hostIPs: [{ ip: '192.0.2.1' }],
          startTime: '2025-01-01T00:00:20Z',
          containerStatuses: [
            {
              name: 'work',
              state: {
                terminated: {
                  exitCode: 0,
                  reason: 'Completed',
                  startedAt: '2025-01-01T00:00:11Z',
                  finishedAt: '2025-01-01T00:00:12Z',
                  containerID: 'containerd://c2',
                },
              },
              lastState: {},
              ready: false,
              restartCount: 0,
              image: 'registry/app:1',
              imageID: 'sha256:1',
              containerID: 'containerd://c2',
              started: false,
            },
          ],
        },
      },
      {
        metadata: {
          ...web,
          labels: { app: 'web' },
          annotations: { note: 'x' },
          creationTimestamp: '2025-01-01T00:00:10Z',
        },
        spec: { nodeName: 'node-a', containers: [{ name: 'app', image: 'registry/app:1' }] },
        status: {
          phase: 'Running',
          conditions: [
            { type: 'PodReadyToStartContainers', status: 'True' },
            { type: 'ContainersReady', status: 'True' },
            { type: 'Ready', status: 'True' },
          ],
          hostIP: '192.0.2.1',
          hostIPs: [{ ip: '192.0.2.1' }],
          podIP: '10.0.0.5',
          podIPs: [{ ip: '10.0.0.5' }, { ip: 'fd00::5' }],
          startTime: '2025-01-01T00:00:10Z',
          containerStatuses: [
            {
              name: 'app',
              state: { running: { startedAt: '2025-01-01T00:00:13Z' } },
              lastState: {
                terminated: {
                  exitCode: 137,
                  reason: 'Error',
                  startedAt: '2025-01-01T00:00:11Z',
                  finishedAt: '2025-01-01T00:00:12Z',
                  containerID: 'containerd://c0',
                },
              },
              ready: true,
              restartCount: 5,
              image: 'registry/app:1',
              imageID: 'sha256:1',
              containerID: 'containerd://c1',
              started: true,
            },
          ],
        },
      },
    ]);
  });

  test('of those that run has the names only, with and without a slash at the end', async () => {
    for (const path of ['/runningpods', '/runningpods/']) {
      assert.deepEqual((await jsonOf(path))['items'], [
        { metadata: web, spec: { containers: [{ name: 'app', image: 'registry/app:1' }] }, status: {} },
      ]);
    }
  });

  test('is 503 while the runtime is away: an empty list would say that nothing runs', async () => {
    await fake.kill();
    const { code, body } = await answerOf('/pods');
    assert.equal(code, 503);
    assert.match(body, /^the container runtime cannot be asked: /);
  });

  test('is for those who may get nodes/pods, or nodes/proxy', async () => {
    const { body } = await answerOf('/pods', await cluster.issue('ann', [], 'client'));
    assert.match(body, /verb=get, resource=nodes, subresource\(s\)=\[pods proxy\]/);
  });
});

const cpu = { timestamp: at(30), usageCoreNanoSeconds: { value: 9n }, usageNanoCores: { value: 2n } };
const memory = { timestamp: at(30), workingSetBytes: { value: 512n } };

describe('/stats/summary', () => {
  test('has the node, and each pod that runs as the runtime tells', async () => {
    fake.on(method.listPodSandboxStats, () => ({
      stats: [
        {
          attributes: { id: 's1', metadata: web },
          linux: {
            cpu,
            memory,
            network: { timestamp: at(30), defaultInterface: { name: 'eth0', rxBytes: { value: 3n } } },
            process: { processCount: { value: 4n } },
            containers: [
              {
                attributes: { id: 'c1', metadata: { name: 'app' } },
                cpu,
                memory,
                writableLayer: { timestamp: at(30), usedBytes: { value: 8n } },
              },
            ],
          },
        },
      ],
    }));
    fake.on(ImageService.method.imageFsInfo, () => ({
      imageFilesystems: [{ timestamp: at(30), usedBytes: { value: 11n }, inodesUsed: { value: 12n } }],
    }));
    const time = '2025-01-01T00:00:30Z';
    const told = {
      cpu: { time, usageNanoCores: 2, usageCoreNanoSeconds: 9 },
      memory: { time, workingSetBytes: 512 },
    };
    const image = { ...node.fs, usedBytes: 11, inodesUsed: 12 };
    const { startTime, cpu: nodeCpu, memory: nodeMemory, network, fs, rlimit } = node;
    const least = { nodeName: 'node-a', startTime, cpu: nodeCpu, memory: nodeMemory };
    assert.deepEqual(await jsonOf('/stats/summary'), {
      node: { ...least, network, fs, runtime: { imageFs: image, containerFs: image }, rlimit },
      pods: [
        {
          podRef: web,
          startTime: '2025-01-01T00:00:10Z',
          containers: [
            {
              name: 'app',
              startTime: '2025-01-01T00:00:12Z',
              ...told,
              rootfs: { time, capacityBytes: 100, usedBytes: 8 },
            },
          ],
          ...told,
          network: { time, name: 'eth0', rxBytes: 3, interfaces: [{ name: 'eth0', rxBytes: 3 }] },
          process_stats: { process_count: 4 },
        },
      ],
    });
    assert.deepEqual(await jsonOf('/stats/summary?only_cpu_and_memory=true'), {
      node: least,
      pods: [
        {
          podRef: web,
          startTime: '2025-01-01T00:00:10Z',
          containers: [{ name: 'app', startTime: '2025-01-01T00:00:12Z', ...told }],
          ...told,
        },
      ],
    });
  });

  test('adds up containers where the runtime cannot tell of pods', async () => {
    fake.on(method.listContainerStats, () => ({ stats: [{ attributes: { id: 'c1' }, cpu, memory }] }));
    const [pod] = Object.values((await jsonOf('/stats/summary?only_cpu_and_memory=true'))['pods'] ?? []);
    const time = '2025-01-01T00:00:30Z';
    assert.deepEqual(pod.cpu, { time, usageNanoCores: 2, usageCoreNanoSeconds: 9 });
    assert.deepEqual(pod.memory, { time, workingSetBytes: 512 });
    assert.ok(fake.calls.includes('ListPodSandboxStats'));
  });
});

test('a runtime that does not answer is given up', async () => {
  const clock = createManualClock();
  const never = () => new Promise<never>(() => undefined);
  const routes = statsRoutes({
    ...{ nodeName: 'node-a', addresses: () => [], runtimeName: () => 'containerd', clock },
    source: { pods: never, usage: never, containerUsage: never, imageDisks: never },
    nodeUsage: never,
  });
  await using server = await startServer({ more: routes });
  const asked = ask(server.port, 'GET', '/pods', admin);
  await waitFor('the question', () => clock.sleepers > 0);
  await clock.advance(20_000);
  const { code, body } = await asked;
  assert.equal(code, 503);
  assert.match(body, /the container runtime cannot be asked: it did not answer within 20 s/);
});

test('a hundred who ask at once cost the runtime one question', async () => {
  using connection = openConnection([fake.endpoint]);
  const routes = statsRoutes({
    nodeName: 'node-a',
    addresses: () => [],
    runtimeName: () => 'containerd',
    source: new RuntimeSource({ connection, images: connection, clock: systemClock }),
    nodeUsage: () => Promise.resolve(node),
    clock: systemClock,
  });
  const list = Promise.withResolvers<{ items: [] }>();
  fake.on(method.listPodSandbox, () => list.promise);
  let arrived = 0;
  const counted = routes.map((route): AgentRoute => {
    const { GET } = route.methods;
    if (typeof GET !== 'function') return route;
    const counting: typeof GET = (request) => {
      arrived += 1;
      return GET(request);
    };
    return { ...route, methods: { GET: counting } };
  });
  await using server = await startServer({ more: counted });
  const answers = Array.from({ length: 100 }, () => ask(server.port, 'GET', '/runningpods', admin));
  await waitFor('all to ask', () => arrived === 100);
  list.resolve({ items: [] });
  for (const { code } of await Promise.all(answers)) assert.equal(code, 200);
  assert.equal(fake.calls.filter((name) => name === 'ListPodSandbox').length, 1);
});
