import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { PodWorld, podOf } from './world.ts';

const until = (isSo: () => boolean) => waitFor('the pod to be so', isSo);

interface Given {
  readonly requests?: Record<string, string>;
  readonly limits?: Record<string, string>;
}

/** A pod whose container asks for that. */
function asking(name: string, generation: number, resources: Given, more: object = {}): Pod {
  const pod = podOf(name, { generation });
  const container = { name: 'main', image: 'app:1', resources, ...more };
  return { ...pod, spec: { ...pod.spec, containers: [container] } };
}

const cpu = (amount: string): Given => ({ requests: { cpu: amount }, limits: { cpu: amount } });
const memory = (amount: string): Given => ({ requests: { memory: amount }, limits: { memory: amount } });

async function startWorld(allocatable = { cpu: '4', memory: '4Gi', pods: '10' }) {
  const folder = await temporaryFolder();
  const world = new PodWorld(folder.path);
  world.allocatable = allocatable;
  world.start();
  const quota = (name = 'main') => Number(world.runtime.running(name)?.resources.cpuQuota ?? -1n);
  return {
    world,
    quota,
    record: (name: string) => world.manager?.worker(`uid-${name}`)?.record,
    wait: (name: string) => world.manager?.worker(`uid-${name}`)?.plan?.wait,
    /** What happened since, of that pod. */
    events: (name: string) => world.happened.filter((each) => each.endsWith(` ${name}`)),
    async [Symbol.asyncDispose]() {
      await world.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('a running pod', () => {
  test('is given more and less without a restart: first its cgroup, then its containers, then its cgroup again', async () => {
    await using node = await startWorld();
    const { world, quota, record, events } = node;
    world.want(asking('web', 1, cpu('1')));
    await until(() => quota() === 100_000);
    const before = world.runtime.running('main')?.id;
    for (const [generation, amount, wanted] of [
      [2, '2', 200_000],
      [3, '500m', 50_000],
    ] as const) {
      world.happened.length = 0;
      world.want(asking('web', generation, cpu(amount)));
      await until(() => quota() === wanted && record('web')?.replaced === undefined);
      assert.deepEqual(events('web'), ['ResizeStarted web', 'raise web', 'limit web', 'ResizeCompleted web']);
    }
    assert.equal(world.runtime.running('main')?.id, before);
    assert.equal(record('web')?.allocation?.generation, 3);
  });

  test('restarts a container whose policy wants that, also where it would not run again by itself', async () => {
    await using node = await startWorld();
    const { world, record } = node;
    const policy = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] };
    world.want(asking('web', 1, memory('64Mi'), policy));
    await until(() => world.runtime.running('main') !== undefined);
    const before = world.runtime.running('main')?.id;
    world.want(asking('web', 2, memory('128Mi'), policy));
    await until(() => {
      const now = world.runtime.running('main');
      return now !== undefined && now.id !== before && record('web')?.replaced === undefined;
    });
    assert.equal(world.runtime.running('main')?.resources.memoryLimitInBytes, 134_217_728n);
    assert.equal(record('web')?.containers['main']?.made?.restartCount, 1);
  });

  test('keeps what it was given while there is no room, and is given more when another pod goes', async () => {
    await using node = await startWorld();
    const { world, quota, record, wait, events } = node;
    const [first, second] = [asking('web', 1, cpu('1')), asking('other', 1, cpu('3'))];
    world.want(first, second);
    await until(() => world.running() === 2);
    const more = asking('web', 2, cpu('2'));
    world.want(more, second);
    await until(() => record('web')?.pendingResize !== undefined);
    assert.deepEqual(
      [record('web')?.pendingResize?.reason, record('web')?.pendingResize?.message],
      ['Deferred', "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"],
    );
    await until(() => wait('web')?.reason === 'ResizeDeferred');
    assert.equal(record('web')?.allocation?.generation, 1);
    world.want(more);
    await until(() => record('web')?.allocation?.generation === 2 && record('web')?.replaced === undefined);
    await until(() => world.running() === 1);
    assert.equal(quota(), 200_000);
    assert.equal(record('web')?.pendingResize, undefined);
    assert.deepEqual(
      events('web').filter((each) => each.startsWith('Resize')),
      ['ResizeDeferred web', 'ResizeStarted web', 'ResizeCompleted web'],
    );
  });

  test('is told that this node can never give that, until it asks for less', async () => {
    await using node = await startWorld();
    const { world, record } = node;
    world.want(asking('web', 1, memory('64Mi')));
    await until(() => world.running() === 1);
    world.want(asking('web', 2, memory('1Ti')));
    await until(() => record('web')?.pendingResize?.reason === 'Infeasible');
    assert.equal(
      record('web')?.pendingResize?.message,
      "Node didn't have enough capacity: memory, requested: 1099511627776, capacity: 4294967296",
    );
    world.want(asking('web', 3, memory('64Mi')));
    await until(() => record('web')?.pendingResize === undefined);
  });

  test('keeps its memory while it uses more than it is to have, and gets less once it can', async () => {
    await using node = await startWorld();
    const { world, record, wait, events } = node;
    world.want(asking('web', 1, memory('128Mi')));
    await until(() => world.running() === 1);
    world.shortages = [{ limitBytes: 67_108_864, usageBytes: 100_000_000 }];
    world.want(asking('web', 2, memory('64Mi')));
    await until(() => wait('web')?.reason === 'ResizeError');
    assert.equal(
      wait('web')?.message,
      'cannot decrease memory limits: attempting to set pod memory limit (67108864) below current usage (100000000)',
    );
    assert.equal(world.runtime.running('main')?.resources.memoryLimitInBytes, 134_217_728n);
    assert.ok(events('web').includes('ResizeError web'));
    world.shortages = [];
    await until(() => record('web')?.replaced === undefined);
    assert.equal(world.runtime.running('main')?.resources.memoryLimitInBytes, 67_108_864n);
  });

  test('is resized by the next agent when this one ends in the middle', async () => {
    await using node = await startWorld();
    const { world, quota, record } = node;
    world.want(asking('web', 1, cpu('1')));
    await until(() => quota() === 100_000);
    const release = world.runtime.fault({ call: 'updateResources', kind: 'hang' });
    world.want(asking('web', 2, cpu('2')));
    await until(() => world.runtime.calls.includes('updateResources'));
    await world.stop();
    assert.equal(quota(), 100_000);
    release();
    world.start();
    await until(() => record('web')?.allocation !== undefined && record('web')?.replaced === undefined);
    assert.equal(quota(), 200_000);
    assert.equal(record('web')?.allocation?.generation, 2);
  });

  test('takes what is asked for last when a resize overtakes another', async () => {
    await using node = await startWorld();
    const { world, quota, record } = node;
    world.want(asking('web', 1, cpu('1')));
    await until(() => quota() === 100_000);
    const release = world.runtime.fault({ call: 'updateResources', kind: 'hang' });
    world.want(asking('web', 2, cpu('2')));
    await until(() => world.runtime.calls.includes('updateResources'));
    world.want(asking('web', 3, cpu('1')));
    await until(() => record('web')?.allocation?.generation === 3);
    release();
    await until(() => record('web')?.replaced === undefined);
    assert.equal(quota(), 100_000);
  });
});

test('of pods that wait for room the important one goes first', async () => {
  await using node = await startWorld();
  const { world, record } = node;
  const withPriority = (pod: Pod, priority: number): Pod => ({
    ...pod,
    spec: { ...pod.spec, priority, containers: pod.spec?.containers ?? [] },
  });
  const others = asking('full', 1, cpu('2'));
  const pods = (generation: number, amount: string) => [
    withPriority(asking('low', generation, cpu(amount)), 1),
    withPriority(asking('high', generation, cpu(amount)), 2),
  ];
  world.want(others, ...pods(1, '1'));
  await until(() => world.running() === 3);
  world.want(others, ...pods(2, '2500m'));
  await until(() => ['low', 'high'].every((name) => record(name)?.pendingResize !== undefined));
  world.want(...pods(2, '2500m'));
  await until(() => record('high')?.allocation?.generation === 2);
  assert.equal(record('low')?.allocation?.generation, 1);
});

test('where pods are not resized, a changed spec changes nothing', async () => {
  await using node = await startWorld();
  const { world, quota, record } = node;
  await world.stop();
  world.allocatable = undefined;
  world.start();
  world.want(asking('web', 1, cpu('1')));
  await until(() => quota() === 100_000);
  world.want(asking('web', 2, cpu('2')), podOf('later'));
  await until(() => world.running() === 2);
  assert.equal(record('web')?.allocation, undefined);
  assert.equal(quota(), 100_000);
});
