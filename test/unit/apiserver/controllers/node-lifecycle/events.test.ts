import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openWorld, secondMs } from './world.ts';

async function openTwo() {
  const world = await openWorld();
  await world.addNode('lost');
  await world.addNode('steady');
  await world.start();
  return world;
}

const minute = [{ operator: 'Exists' as const, effect: 'NoExecute', tolerationSeconds: 60 }];

describe('what is told of nodes', () => {
  test('that one comes and goes, but not that it was there at the start', async () => {
    await using world = await openTwo();
    await world.addNode('new');
    await world.removeNode('new');
    await world.quiet();
    assert.deepEqual(world.events('new').sort(), [
      'Normal RegisteredNode: Node new event: Registered Node new in Controller ×1',
      'Normal RemovingNode: Node new event: Removing Node new from Controller ×1',
    ]);
    assert.deepEqual(world.events('steady'), []);
  });

  test('that one is lost; each further time counts', async () => {
    await using world = await openTwo();
    for (let round = 0; round < 3; round++) {
      world.alive.delete('lost');
      await world.pass(60 * secondMs);
      await world.comeBack('lost');
    }
    assert.deepEqual(world.events('lost'), ['Normal NodeNotReady: Node lost status is now: NodeNotReady ×3']);
  });
});

describe('what is told of pods', () => {
  test('that they are not ready as their node is lost, and that they go', async () => {
    await using world = await openTwo();
    await world.addPod('plain', 'lost');
    await world.sayOfPod('plain', { Ready: 'True' });
    world.alive.delete('lost');
    await world.pass(60 * secondMs);
    assert.deepEqual(world.events('plain').sort(), [
      'Normal TaintManagerEviction: Marking for deletion Pod workloads/plain ×1',
      'Warning NodeNotReady: Node is not ready ×1',
    ]);
  });

  test('that they stay after all, when their node is back in time or they tolerate it for ever', async () => {
    await using world = await openTwo();
    await world.addPod('saved', 'lost', minute);
    await world.addPod('patient', 'lost', minute);
    world.alive.delete('lost');
    await world.pass(50 * secondMs);
    await world.changePod('patient', (pod) => ({
      ...pod,
      ...(pod.spec && { spec: { ...pod.spec, tolerations: [...minute, { operator: 'Exists' }].reverse() } }),
    }));
    await world.quiet();
    const cancelled = (name: string) => [
      `Normal TaintManagerEviction: Cancelling deletion of Pod workloads/${name} ×1`,
    ];
    assert.deepEqual(world.events('patient'), cancelled('patient'));
    assert.deepEqual(world.events('saved'), []);
    await world.comeBack('lost');
    assert.deepEqual(world.events('saved'), cancelled('saved'));
    assert.deepEqual(world.events('patient'), cancelled('patient'));
  });
});
