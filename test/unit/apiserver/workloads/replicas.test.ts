/** ReplicaSets and ReplicationControllers keep as many pods as are wanted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, ReplicaSet, ReplicaSetSpec } from '../../../../src/api/index.ts';
import {
  podKind,
  replicaSetKind,
  replicationControllerKind,
  StatusError,
} from '../../../../src/api/index.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { controllerOf } from '../../../../src/apiserver/workloads/owned-objects.ts';
import type { World } from './world.ts';
import { namespace, prepare, secondMs } from './world.ts';

const template = {
  metadata: { labels: { app: 'a', tier: 'web' }, annotations: { note: 'kept' } },
  spec: { containers: [{ name: 'main', image: 'image' }] },
};
const set = (replicas: number, spec: Pick<ReplicaSetSpec, 'minReadySeconds'> = {}): ReplicaSet => ({
  metadata: { name: 'set' },
  spec: { replicas, selector: { matchLabels: { app: 'a' } }, template, ...spec },
});

async function start(): Promise<World> {
  const world = await prepare(workloadControllers);
  await world.start();
  return world;
}
const scale = (world: World, replicas: number) =>
  world
    .change(replicaSetKind, 'set', (now) => ({
      ...now,
      ...(now.spec && { spec: { ...now.spec, replicas } }),
    }))
    .then(() => world.clock.advance(0));
const statusOf = (world: World) => world.get(replicaSetKind, 'set').status;
const bare = (name: string, labels: Record<string, string>): Pod => ({
  metadata: { name, labels },
  spec: template.spec,
});
const firstPod = (world: World) => world.podNames()[0] ?? '';

describe('a ReplicaSet', () => {
  test('makes its pods of the template, says so in Events, and counts them', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(3));
    const pods = world.pods();
    assert.equal(pods.length, 3);
    const { uid = '' } = world.get(replicaSetKind, 'set').metadata ?? {};
    for (const { metadata, spec } of pods) {
      assert.match(metadata?.name ?? '', /^set-[a-z0-9]{5}$/);
      assert.deepEqual(
        [metadata?.labels, metadata?.annotations],
        [{ app: 'a', tier: 'web' }, { note: 'kept' }],
      );
      assert.deepEqual(metadata?.ownerReferences, [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'set',
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      assert.equal(spec?.containers?.[0]?.image, 'image');
    }
    const expected = world.podNames().map((name) => `SuccessfulCreate: Created pod: ${name}`);
    assert.deepEqual(world.events('set').sort(), expected.sort());
    assert.deepEqual(statusOf(world), {
      ...{ replicas: 3, fullyLabeledReplicas: 3, terminatingReplicas: 0 },
      ...{ observedGeneration: 1 },
    });
  });

  test('replaces a pod that has ended or is going, and writes nothing while nothing changes', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(2));
    const [first = '', second = ''] = world.podNames();
    await world.report(first, 'Running');
    assert.equal(statusOf(world)?.readyReplicas, 1);
    await world.report(first, 'Failed');
    assert.equal(world.podNames().length, 3);
    await world.change(podKind, second, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, finalizers: ['a.b/c'] },
    }));
    await world.remove(podKind, second);
    assert.equal(world.podNames().length, 4);
    assert.deepEqual([statusOf(world)?.replicas, statusOf(world)?.terminatingReplicas], [2, 1]);
    const before = world.storage.applied;
    await world.clock.advance(600 * secondMs);
    assert.equal(world.storage.applied, before);
  });

  test('deletes what is too much, those first that are not ready', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(3));
    const [first = '', second = '', third = ''] = world.podNames();
    await world.report(first, 'Running');
    await world.report(third, 'Running');
    await scale(world, 2);
    assert.deepEqual(world.podNames(), [first, third]);
    assert.ok(world.events('set').includes(`SuccessfulDelete: Deleted pod: ${second}`));
    await scale(world, 0);
    assert.deepEqual(world.podNames(), []);
    assert.equal(statusOf(world)?.observedGeneration, 3);
  });

  test('spares the pod that is dear', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(2));
    const names = world.podNames();
    for (const name of names) await world.report(name, 'Running');
    const [, dear = ''] = names;
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' };
    await world.change(podKind, dear, (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } }));
    await scale(world, 1);
    assert.deepEqual(world.podNames(), [dear]);
  });

  test('counts a pod as available when it has been ready for minReadySeconds', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(1, { minReadySeconds: 10 }));
    await world.report(firstPod(world), 'Running');
    await world.clock.advance(9 * secondMs);
    assert.deepEqual([statusOf(world)?.readyReplicas, statusOf(world)?.availableReplicas], [1, undefined]);
    await world.clock.advance(2 * secondMs);
    assert.deepEqual([statusOf(world)?.readyReplicas, statusOf(world)?.availableReplicas], [1, 1]);
  });

  test('adopts what it selects, releases what it does not select any more, and leaves the rest', async () => {
    await using world = await start();
    await world.create(podKind, bare('selected', { app: 'a' }));
    await world.create(podKind, bare('other', { app: 'b' }));
    await world.create(replicaSetKind, set(2));
    assert.equal(controllerOf(world.get(podKind, 'selected'))?.name, 'set');
    assert.equal(world.podNames().length, 3);
    assert.deepEqual([statusOf(world)?.replicas, statusOf(world)?.fullyLabeledReplicas], [2, 1]);
    await world.change(podKind, 'selected', (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'taken-out' } },
    }));
    await world.clock.advance(0);
    assert.equal(controllerOf(world.get(podKind, 'selected')), undefined);
    assert.equal(world.podNames().length, 4);
    // and one that comes to it is one too many
    await world.change(podKind, 'other', (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'a' } },
    }));
    await world.clock.advance(0);
    assert.equal(world.pods().filter((pod) => controllerOf(pod)?.name === 'set').length, 2);
  });

  test('that is refused its pods tries one, says why, and goes on when it is not refused any more', async () => {
    let isFull = true;
    const tried: string[] = [];
    await using world = await prepare((options) => {
      const pods = options.registry.of(podKind);
      const create = pods.create.bind(pods);
      pods.create = (...args) => {
        tried.push('pod');
        if (isFull)
          return Promise.reject(new StatusError('Forbidden', 'pods "set-" is forbidden: exceeded quota: q'));
        return create(...args);
      };
      return workloadControllers(options);
    });
    await world.start();
    await world.create(replicaSetKind, set(8));
    assert.ok(tried.length <= 2, `${tried.length} tries`);
    const [condition] = statusOf(world)?.conditions ?? [];
    assert.deepEqual(
      [condition?.type, condition?.status, condition?.reason, condition?.message],
      ['ReplicaFailure', 'True', 'FailedCreate', 'pods "set-" is forbidden: exceeded quota: q'],
    );
    assert.deepEqual(world.events('set'), [
      'FailedCreate: Error creating: pods "set-" is forbidden: exceeded quota: q',
    ]);
    isFull = false;
    await world.clock.advance(61 * secondMs);
    assert.deepEqual([statusOf(world)?.replicas, statusOf(world)?.conditions], [8, undefined]);
  });

  test('makes nothing in place of a pod that cannot be read', async () => {
    await using world = await start();
    await world.create(replicaSetKind, set(2));
    const [first = '', second] = world.podNames();
    await world.veilPod(first);
    assert.equal(statusOf(world)?.replicas, 2, 'one that was read counts as it was known');
    await world.veilPod('unknown');
    await world.remove(podKind, second ?? '', { gracePeriodSeconds: 0 });
    await world.clock.advance(120 * secondMs);
    assert.deepEqual([world.podNames(), statusOf(world)?.replicas], [[first], 1]);
    const why = statusOf(world)?.conditions?.[0]?.message ?? '';
    assert.match(why, /^nothing is made in place of .*\/unknown, which is there and cannot be read$/);
  });

  test('that is being deleted makes no more pods', async () => {
    await using world = await start();
    const held = set(1);
    await world.create(replicaSetKind, {
      ...held,
      metadata: { name: 'set', finalizers: ['example.org/hold'] },
    });
    await world.remove(replicaSetKind, 'set');
    await world.remove(podKind, firstPod(world), { gracePeriodSeconds: 0 });
    assert.deepEqual([world.podNames(), statusOf(world)?.replicas], [[], undefined]);
  });

  test('stands back for a kube-controller-manager, and takes over when that is gone', async () => {
    await using world = await prepare(workloadControllers);
    await world.renewLease(15);
    await world.start();
    await world.create(replicaSetKind, set(1));
    assert.deepEqual(world.podNames(), []);
    await world.clock.advance(17 * secondMs);
    assert.equal(world.podNames().length, 1);
  });
});

test('a ReplicationController keeps its pods by a plain selector', async () => {
  await using world = await start();
  await world.create(replicationControllerKind, {
    metadata: { name: 'old' },
    spec: { replicas: 2, selector: { app: 'a' }, template },
  });
  const [pod] = world.pods();
  const { apiVersion, kind } = (pod && controllerOf(pod)) ?? {};
  assert.deepEqual([world.podNames().length, apiVersion, kind], [2, 'v1', 'ReplicationController']);
  const { status } = world.get(replicationControllerKind, 'old');
  assert.deepEqual(status, { replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 });
  assert.equal(namespace, pod?.metadata?.namespace);
});
