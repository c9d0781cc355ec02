/** The form of all controllers of workloads, with one that only notes what it is asked to look at. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReplicaSet } from '../../../../src/api/index.ts';
import { controllerRevisionKind, podKind, replicaSetKind } from '../../../../src/api/index.ts';
import type { ControllerOptions } from '../../../../src/apiserver/controllers/index.ts';
import { StandBy } from '../../../../src/apiserver/controllers/index.ts';
import { OwnedObjects } from '../../../../src/apiserver/workloads/owned-objects.ts';
import { followOwned, workloadController } from '../../../../src/apiserver/workloads/workload-controller.ts';
import { namespace, prepare, secondMs } from './world.ts';

const roles = { lease: 'kube-controller-manager', other: 'another', own: 'this one' };
const set = (name: string): ReplicaSet => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
});

async function prepareNoting() {
  const looks: string[] = [];
  let againMs: number | undefined;
  const create = (options: ControllerOptions) => {
    const pods = new OwnedObjects(options, podKind);
    const form = { name: 'noting', component: 'noting-controller', kind: replicaSetKind };
    const revisions = new OwnedObjects(options, controllerRevisionKind);
    const workloads = { ...options, pods, revisions, standBy: new StandBy(options, roles) };
    return [
      workloadController(form, workloads, (tools) => ({
        follows: [
          followOwned(pods, tools, () => tools.enqueue(`${tools.resource.prefix(namespace)}adopter`)),
        ],
        async work({ metadata: { name = '', uid = '' } = {} }) {
          looks.push(`${name}: ${pods.ownedBy(uid).length}`);
          return againMs;
        },
      })),
    ];
  };
  const world = await prepare(create);
  return {
    world,
    take: () => looks.splice(0),
    lookAgainAt(ms: number | undefined) {
      againMs = ms;
    },
    async pod(name: string, owner: ReplicaSet | undefined, labels = {}) {
      const { name: ownerName = '', uid = '' } = owner?.metadata ?? {};
      const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: ownerName, uid, controller: true };
      const ownerReferences = owner === undefined ? [] : [reference];
      const spec = { containers: [{ name: 'a', image: 'a' }] };
      await world.create(podKind, { metadata: { name, labels, ownerReferences }, spec });
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('a controller of workloads', () => {
  test('looks at a workload that is there, is new or has changed, and at the one that controls a pod', async () => {
    await using noting = await prepareNoting();
    const { world, take } = noting;
    const one = await world.create(replicaSetKind, set('one'));
    await world.start();
    assert.deepEqual(take(), ['one: 0']);
    await world.create(replicaSetKind, set('two'));
    assert.deepEqual(take(), ['two: 0']);
    await noting.pod('pod', one);
    assert.deepEqual(take(), ['one: 1']);
    await world.report('pod', 'Running');
    assert.deepEqual(take(), ['one: 1']);
    await world.remove(podKind, 'pod', { gracePeriodSeconds: 0 });
    assert.deepEqual(take(), ['one: 0']);
    await world.remove(replicaSetKind, 'two');
    assert.deepEqual(take(), []);
  });

  test('asks who adopts a pod without a controller, when it is new and when its labels change', async () => {
    await using noting = await prepareNoting();
    const { world, take } = noting;
    await world.create(replicaSetKind, set('adopter'));
    await world.start();
    take();
    await noting.pod('pod', undefined);
    assert.deepEqual(take(), ['adopter: 0']);
    await world.report('pod', 'Running');
    assert.deepEqual(take(), []);
    await world.change(podKind, 'pod', (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { a: 'b' } },
    }));
    await world.clock.advance(0);
    assert.deepEqual(take(), ['adopter: 0']);
  });

  test('looks again at the time that it says, once, and not at a workload that is gone', async () => {
    await using noting = await prepareNoting();
    const { world, take } = noting;
    await world.start();
    noting.lookAgainAt(world.clock.now() + 90 * secondMs);
    await world.create(replicaSetKind, set('one'));
    noting.lookAgainAt(undefined);
    take();
    await world.clock.advance(89 * secondMs);
    assert.deepEqual(take(), []);
    await world.clock.advance(2 * secondMs);
    assert.deepEqual(take(), ['one: 0']);
    await world.clock.advance(300 * secondMs);
    assert.deepEqual(take(), []);
  });

  test('stands back while another one renews its Lease, and then looks at everything', async () => {
    await using noting = await prepareNoting();
    const { world, take } = noting;
    await world.renewLease(15);
    await world.create(replicaSetKind, set('one'));
    await world.start();
    await world.clock.advance(14 * secondMs);
    await world.create(replicaSetKind, set('two'));
    assert.deepEqual(take(), []);
    assert.match(
      world.logged(),
      /another holds the Lease kube-system\/kube-controller-manager: this one stands back/,
    );
    await world.clock.advance(3 * secondMs);
    assert.deepEqual(take().sort(), ['one: 0', 'two: 0']);
    assert.match(world.logged(), /nobody renews .* any more: this one goes on/);
  });

  test('goes on after its own restart', async () => {
    await using noting = await prepareNoting();
    const { world, take } = noting;
    const one = await world.create(replicaSetKind, set('one'));
    await world.start();
    await world.stop();
    await noting.pod('pod', one);
    take();
    await world.start();
    assert.deepEqual(take(), ['one: 1']);
  });
});
