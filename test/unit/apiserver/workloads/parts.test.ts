/** What the controllers of workloads share: who owns what, which pod goes first, writes in batches. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { formatTime, podKind, replicaSetKind } from '../../../../src/api/index.ts';
import { inBatches } from '../../../../src/apiserver/workloads/batches.ts';
import { claimObjects, decideClaims } from '../../../../src/apiserver/workloads/claims.ts';
import { inDeletionOrder } from '../../../../src/apiserver/workloads/deletion-order.ts';
import { controllerOf, OwnedObjects } from '../../../../src/apiserver/workloads/owned-objects.ts';
import { podFromTemplate } from '../../../../src/apiserver/workloads/pod-from-template.ts';
import type { World } from './world.ts';
import { prepare } from './world.ts';

const nowMs = Date.parse('2026-01-02T00:00:00Z');

interface Facts {
  node?: string;
  phase?: string;
  readySeconds?: number;
  cost?: string;
  restarts?: number;
  initRestarts?: number;
  ageSeconds?: number;
}

function pod(name: string, facts: Facts = {}): Pod {
  const { node = 'a', phase = 'Running', readySeconds = 100, cost, restarts = 0, ageSeconds = 1000 } = facts;
  const ago = (seconds: number) => formatTime(nowMs - seconds * 1000);
  const counts = (restartCount: number) => [{ name: 'c', restartCount, ready: true, image: '', imageID: '' }];
  return {
    metadata: {
      ...{ name, uid: name, creationTimestamp: ago(ageSeconds) },
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { containers: [], ...(node === '' ? {} : { nodeName: node }) },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: readySeconds < 0 ? 'False' : 'True', lastTransitionTime: ago(readySeconds) },
      ],
      containerStatuses: counts(restarts),
      initContainerStatuses: counts(facts.initRestarts ?? 0),
    },
  };
}

describe('of two pods the one is deleted first', () => {
  const cases: [string, Facts, Facts][] = [
    ['without a node', { node: '', phase: 'Running' }, { phase: 'Pending', readySeconds: -1 }],
    ['that is pending', { phase: 'Pending' }, { readySeconds: -1 }],
    ['of which nothing is known', { phase: 'Unknown' }, { readySeconds: -1 }],
    ['that is not ready', { readySeconds: -1 }, { cost: '-5' }],
    ['that is cheaper', { cost: '-1', readySeconds: 500 }, { readySeconds: 3 }],
    ['that is cheaper than by default', {}, { cost: '10', readySeconds: 3 }],
    ['whose cost is no number, as without', { cost: '01x', readySeconds: 3 }, { cost: '1' }],
    ['that is ready for a shorter time', { readySeconds: 3 }, { restarts: 9 }],
    ['with more restarts', { restarts: 2 }, { initRestarts: 5, restarts: 1 }],
    ['with more restarts of init containers', { initRestarts: 2 }, { ageSeconds: 1 }],
    ['that is younger', { ageSeconds: 1 }, { ageSeconds: 1000 }],
  ];
  for (const [name, first, second] of cases) {
    test(name, () => {
      // by its uid alone it would be the second
      const pods = [pod('a', second), pod('b', first)];
      const order = inDeletionOrder(pods, [], nowMs).map(({ metadata }) => metadata?.name);
      assert.deepEqual(order, ['b', 'a']);
    });
  }

  test('of which more are on its node', () => {
    const pods = [pod('a', { node: 'one' }), pod('b', { node: 'two', readySeconds: 900 })];
    const related = [...pods, pod('c', { node: 'two' }), pod('d', { node: 'one', phase: 'Failed' })];
    const order = inDeletionOrder(pods, related, nowMs).map(({ metadata }) => metadata?.name);
    assert.deepEqual(order, ['b', 'a']);
  });

  test('by its uid, when both have been ready for about as long', () => {
    const pods = [pod('b', { readySeconds: 100 }), pod('a', { readySeconds: 110 })];
    const order = inDeletionOrder(pods, [], nowMs).map(({ metadata }) => metadata?.name);
    assert.deepEqual(order, ['a', 'b']);
  });
});

describe('writes in batches', () => {
  test('grow while all succeed', async () => {
    let [underWay, sizes]: [number, number[]] = [0, []];
    const write = async () => {
      underWay += 1;
      await Promise.resolve();
      if (underWay > 0) sizes = [...sizes, underWay];
      underWay = 0;
    };
    assert.deepEqual(await inBatches(Array.from({ length: 10 }), write), { done: 10 });
    assert.deepEqual(sizes, [1, 2, 4, 3]);
  });

  test('end with the batch in which one fails: a refusal of all costs one write', async () => {
    const tried: number[] = [];
    const refuseFrom = (first: number) => async (item: number) => {
      tried.push(item);
      if (item >= first) throw new Error(`${item} refused`);
    };
    const first = await inBatches([0, 1, 2, 3], refuseFrom(0));
    assert.deepEqual([first.done, String(first.failure), tried.splice(0)], [0, 'Error: 0 refused', [0]]);
    const later = await inBatches([0, 1, 2, 3, 4, 5, 6, 7], refuseFrom(4));
    assert.deepEqual([later.done, String(later.failure)], [4, 'Error: 4 refused']);
    assert.deepEqual(tried, [0, 1, 2, 3, 4, 5, 6]);
  });
});

test('a pod of a template has its labels, annotations and finalizers, and a copy of its spec', () => {
  const template = {
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['e.f/g'], name: 'ignored' },
    spec: { containers: [{ name: 'main', image: 'image' }] },
  };
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'u', controller: true };
  const made = podFromTemplate(template, owner, 'ns');
  assert.deepEqual(made, {
    metadata: {
      namespace: 'ns',
      generateName: 'set-',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['e.f/g'],
      ownerReferences: [owner],
    },
    spec: { containers: [{ name: 'main', image: 'image' }] },
  });
  assert.notEqual(made.spec?.containers, template.spec.containers);
});

describe('who belongs to whom', () => {
  const selector = { matchLabels: { app: 'a' } };
  const labelled = (name: string, app: string, isGoing = false): Pod => ({
    metadata: {
      ...{ name, labels: { app } },
      ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
  });
  const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata?.name).join();
  const decide = (owner: Pod) => {
    const owned = [labelled('kept', 'a'), labelled('ending', 'a', true), labelled('relabelled', 'b')];
    const orphans = [labelled('selected', 'a'), labelled('going', 'a', true), labelled('other', 'b')];
    const claims = decideClaims(owner, selector, owned, orphans);
    return [names(claims.owned), names(claims.adopt), names(claims.release)];
  };

  test('what is selected is adopted unless it is going, and what is not any more is released', () => {
    assert.deepEqual(decide({ metadata: { name: 'owner' } }), ['kept,ending', 'selected', 'relabelled']);
  });

  test('an owner that is being deleted neither adopts nor releases', () => {
    const metadata = { name: 'owner', deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.deepEqual(decide({ metadata }), ['kept,ending', '', '']);
  });

  async function claimed(change: (world: World) => Promise<void>) {
    await using world = await prepare(() => []);
    const objects = new OwnedObjects(world, podKind);
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const owner = await world.create(replicaSetKind, {
      metadata: { name: 'owner', finalizers: ['example.org/hold'] },
      spec: { selector, template },
    });
    await world.create(podKind, { metadata: { name: 'pod', labels: { app: 'a' } }, spec: template.spec });
    using _following = objects.follow({});
    await change(world);
    const owned = await claimObjects(world.registry.of(replicaSetKind), owner, selector, objects);
    return { owned: names(owned), controller: controllerOf(world.get(podKind, 'pod'))?.name, world, owner };
  }

  test('an orphan is adopted', async () => {
    const { owned, controller } = await claimed(async () => undefined);
    assert.deepEqual([owned, controller], ['pod', 'owner']);
  });

  test('nothing is adopted when the owner is being deleted in its newest state', async () => {
    const { owned, controller } = await claimed((world) => world.remove(replicaSetKind, 'owner'));
    assert.deepEqual([owned, controller], ['', undefined]);
  });

  test('a pod that another controls stays with it', async () => {
    const other = { apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'other', controller: true };
    const take = (world: World) =>
      world.change(podKind, 'pod', (now) => ({
        ...now,
        metadata: { ...now.metadata, ownerReferences: [other] },
      }));
    const { owned, controller } = await claimed(take);
    assert.deepEqual([owned, controller], ['', 'other']);
  });

  test('a pod whose labels have changed is released, and keeps its other owners', async () => {
    await using world = await prepare(() => []);
    const objects = new OwnedObjects(world, podKind);
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const owner = await world.create(replicaSetKind, {
      metadata: { name: 'owner' },
      spec: { selector, template },
    });
    const uid = owner.metadata?.uid ?? '';
    const kept = { apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'other' };
    const own = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'owner', uid, controller: true };
    await world.create(podKind, {
      metadata: { name: 'pod', labels: { app: 'b' }, ownerReferences: [kept, own] },
      spec: template.spec,
    });
    using _following = objects.follow({});
    assert.deepEqual(objects.orphansIn('ns'), []);
    assert.deepEqual(await claimObjects(world.registry.of(replicaSetKind), owner, selector, objects), []);
    assert.deepEqual(world.get(podKind, 'pod').metadata?.ownerReferences, [kept]);
    assert.equal(names(objects.orphansIn('ns')), 'pod');
    await world.remove(podKind, 'pod', { gracePeriodSeconds: 0 });
    assert.deepEqual(objects.orphansIn('ns'), []);
  });
});
