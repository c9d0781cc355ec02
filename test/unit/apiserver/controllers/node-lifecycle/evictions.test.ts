import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openWorld, secondMs } from './world.ts';

const unreachable = 'node.kubernetes.io/unreachable';

async function openTwo() {
  const world = await openWorld();
  await world.addNode('lost');
  await world.addNode('steady');
  await world.start();
  return world;
}

/** Until the node is tainted. */
async function lose(world: Awaited<ReturnType<typeof openTwo>>): Promise<void> {
  world.alive.delete('lost');
  await world.pass(40 * secondMs);
  assert.equal(world.taints('lost').length, 2);
}

describe('when a node is lost', () => {
  test('its pods go that do not tolerate that, and are told why; others stay', async () => {
    await using world = await openTwo();
    await world.addPod('plain', 'lost');
    await world.addPod('elsewhere', 'steady');
    await world.addPod('static', 'lost', [{ operator: 'Exists', effect: 'NoExecute' }]);
    await world.addPod('everything', 'lost', [{ operator: 'Exists' }]);
    await world.addPod('daemon', 'lost', [
      { key: unreachable, operator: 'Exists', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
    ]);
    await world.addPod('other-trouble', 'lost', [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
    ]);
    await world.addPod('other-effect', 'lost', [
      { key: unreachable, operator: 'Exists', effect: 'NoSchedule' },
    ]);
    await lose(world);
    assert.deepEqual(world.going(), ['other-effect', 'other-trouble', 'plain']);
    const told = world.pod('plain').status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual(
      [told?.status, told?.reason, told?.message],
      ['True', 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'],
    );
    assert.equal(world.pod('plain').metadata?.deletionGracePeriodSeconds, 30);
    await world.pass(600 * secondMs);
    assert.equal(world.going().length, 3);
  });

  test('pods that tolerate it for a time go after that time', async () => {
    await using world = await openTwo();
    const forSeconds = (tolerationSeconds: number) => [
      { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
    ];
    await world.addPod('zero', 'lost', forSeconds(0));
    await world.addPod('negative', 'lost', forSeconds(-5));
    await world.addPod('minute', 'lost', forSeconds(60));
    await world.addPod('long', 'lost', forSeconds(2 ** 53));
    await lose(world);
    assert.deepEqual(world.going(), ['negative', 'zero']);
    await world.pass(50 * secondMs);
    assert.deepEqual(world.going(), ['negative', 'zero']);
    await world.pass(20 * secondMs);
    assert.deepEqual(world.going(), ['minute', 'negative', 'zero']);
    await world.pass(600 * secondMs);
    assert.equal(world.going().length, 3);
  });

  test('pods stay whose node is back in time, and have their whole time again', async () => {
    await using world = await openTwo();
    await world.addPod('minute', 'lost', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await lose(world);
    await world.pass(40 * secondMs);
    await world.comeBack('lost');
    await world.pass(200 * secondMs);
    assert.deepEqual(world.going(), []);
    await lose(world);
    await world.pass(40 * secondMs);
    assert.deepEqual(world.going(), []);
    await world.pass(30 * secondMs);
    assert.deepEqual(world.going(), ['minute']);
  });

  test('its pods that come late go too', async () => {
    await using world = await openTwo();
    await lose(world);
    await world.addPod('late', 'lost');
    assert.deepEqual(world.going(), ['late']);
  });

  test('a pod that is given a toleration meanwhile stays', async () => {
    await using world = await openTwo();
    await world.addPod('minute', 'lost', [
      { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await lose(world);
    const tolerations = [{ key: unreachable, operator: 'Exists', effect: 'NoExecute' }];
    await world.changePod('minute', (pod) => ({
      ...pod,
      ...(pod.spec && { spec: { ...pod.spec, tolerations } }),
    }));
    await world.pass(300 * secondMs);
    assert.deepEqual(world.going(), []);
  });

  test('a pod of the same name that is made anew has its own time', async () => {
    await using world = await openTwo();
    const minute = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
    await world.addPod('again', 'lost', minute);
    await lose(world);
    await world.pass(50 * secondMs);
    await world.removePod('again');
    await world.addPod('again', 'lost', minute);
    await world.pass(50 * secondMs);
    assert.deepEqual(world.going(), []);
    await world.pass(20 * secondMs);
    assert.deepEqual(world.going(), ['again']);
  });

  test('pods of a namespace that is going are evicted like all others', async () => {
    await using world = await openTwo();
    await world.addPod('minute', 'lost', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await lose(world);
    await world.removeNamespace();
    await world.pass(70 * secondMs);
    assert.deepEqual(world.going(), ['minute']);
  });

  test('and deleted meanwhile, its pods are left to who collects them', async () => {
    await using world = await openTwo();
    await world.addPod('minute', 'lost', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await lose(world);
    await world.removeNode('lost');
    await world.pass(300 * secondMs);
    assert.deepEqual(world.going(), []);
    assert.doesNotMatch(world.logged(), /will try again/);
  });
});

describe('a NoExecute taint of somebody else', () => {
  test('takes pods off the node too, by key and value', async () => {
    await using world = await openTwo();
    const red = { key: 'team', operator: 'Equal', value: 'red', effect: 'NoExecute' };
    await world.addPod('red', 'steady', [red]);
    await world.addPod('blue', 'steady', [{ ...red, value: 'blue' }]);
    const taints = [{ key: 'team', value: 'red', effect: 'NoExecute' }];
    await world.changeNode('steady', (node) => ({ ...node, spec: { taints } }));
    assert.deepEqual(world.going(), ['blue']);
    await world.changeNode('steady', (node) => ({
      ...node,
      spec: { taints: [...taints, { key: 'second', effect: 'NoExecute' }] },
    }));
    assert.deepEqual(world.going(), ['blue', 'red']); // every one must be tolerated
  });
});
