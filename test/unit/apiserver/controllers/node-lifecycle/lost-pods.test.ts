import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { World } from './world.ts';
import { openWorld, secondMs } from './world.ts';

const staying = [{ operator: 'Exists' as const }];

/** A ready pod on a node that can be lost, and one on a node that stays. */
async function openTwo(): Promise<World> {
  const world = await openWorld();
  await world.addNode('lost');
  await world.addNode('steady');
  await world.start();
  for (const node of ['lost', 'steady']) {
    await world.addPod(`on-${node}`, node, staying);
    await world.sayOfPod(`on-${node}`, { Ready: 'True', Initialized: 'True' });
  }
  return world;
}

const conditions = (world: World, pod: string) =>
  (world.pod(pod).status?.conditions ?? []).map(({ type, status, reason }) =>
    [type, status, reason].join(' '),
  );

describe('the pods of a lost node', () => {
  test('are not ready any more, and nothing else of them changes', async () => {
    await using world = await openTwo();
    world.alive.delete('lost');
    await world.pass(60 * secondMs);
    assert.deepEqual(conditions(world, 'on-lost'), ['Ready False Told', 'Initialized True Told']);
    const ready = world.pod('on-lost').status?.conditions?.find(({ type }) => type === 'Ready');
    assert.notEqual(ready?.lastTransitionTime, undefined);
    assert.deepEqual(conditions(world, 'on-steady'), ['Ready True Told', 'Initialized True Told']);
  });

  test('stay so while it is lost, whatever is said of them, and are ready when they are after that', async () => {
    await using world = await openTwo();
    world.alive.delete('lost');
    await world.pass(60 * secondMs);
    await world.sayOfPod('on-lost', { Ready: 'True' });
    assert.deepEqual(conditions(world, 'on-lost'), ['Ready False Told']);
    await world.comeBack('lost');
    await world.sayOfPod('on-lost', { Ready: 'True' });
    await world.pass(60 * secondMs);
    assert.deepEqual(conditions(world, 'on-lost'), ['Ready True Told']);
  });

  test('are written once, and not at all where they say nothing of being ready', async () => {
    await using world = await openTwo();
    await world.addPod('quiet', 'lost', staying);
    const before = world.pod('quiet').metadata?.resourceVersion;
    world.alive.delete('lost');
    await world.pass(60 * secondMs);
    const once = world.pods.get('workloads', 'on-lost').revision;
    await world.pass(300 * secondMs);
    assert.equal(world.pods.get('workloads', 'on-lost').revision, once);
    assert.equal(world.pod('quiet').metadata?.resourceVersion, before);
  });

  test('are found after a start, for what was not written before it', async () => {
    await using world = await openTwo();
    world.alive.delete('lost');
    await world.pass(60 * secondMs);
    await world.stop();
    await world.sayOfPod('on-lost', { Ready: 'True' });
    await world.start();
    assert.deepEqual(conditions(world, 'on-lost'), ['Ready False Told']);
  });

  test('of a node that says it is not ready are its agent’s business', async () => {
    await using world = await openTwo();
    await world.say('lost', { Ready: 'False' });
    await world.pass(60 * secondMs);
    assert.deepEqual(conditions(world, 'on-lost'), ['Ready True Told', 'Initialized True Told']);
  });
});
