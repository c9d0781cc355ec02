import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prepare, secondMs } from './world.ts';

async function openEnded(terminatedPodThreshold: number) {
  const world = await prepare(undefined, { terminatedPodThreshold });
  await world.createNode('here');
  return {
    world,
    /** One after the other, a second apart. */
    async add(name: string, status: { phase: string; reason?: string }): Promise<void> {
      await world.create(name, 'here');
      await world.say(name, status);
      world.clock.setWall(secondMs);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('pods that have ended', () => {
  test('go beyond the threshold, the oldest first; others are not counted', async () => {
    await using cluster = await openEnded(2);
    const { world, add } = cluster;
    for (const name of ['d', 'c', 'b', 'a']) await add(name, { phase: name < 'c' ? 'Failed' : 'Succeeded' });
    for (const name of ['e', 'f']) await add(name, { phase: 'Running' });
    await world.pass(20 * secondMs);
    assert.deepEqual(world.names(), ['a', 'b', 'e', 'f']);
    await world.pass(60 * secondMs);
    assert.deepEqual(world.names(), ['a', 'b', 'e', 'f']);
  });

  test('that were evicted go before older ones', async () => {
    await using cluster = await openEnded(1);
    const { world, add } = cluster;
    await add('old', { phase: 'Failed' });
    await add('evicted', { phase: 'Failed', reason: 'Evicted' });
    await world.pass(20 * secondMs);
    assert.deepEqual(world.names(), ['old']);
  });

  test('are told by their phase, not by what stands elsewhere in them', async () => {
    await using cluster = await openEnded(1);
    const { world, add } = cluster;
    await add('one', { phase: 'Succeeded' });
    await world.create('two', 'here', { annotations: { phase: 'Failed' } });
    await world.say('two', { phase: 'Running' });
    await world.pass(20 * secondMs);
    assert.deepEqual(world.names(), ['one', 'two']);
  });

  test('all stay with 0', async () => {
    await using cluster = await openEnded(0);
    const { world, add } = cluster;
    for (const name of ['a', 'b']) await add(name, { phase: 'Succeeded' });
    await world.pass(60 * secondMs);
    assert.deepEqual(world.names(), ['a', 'b']);
  });

  test('are 250 too many: gone within one sweep', async () => {
    await using cluster = await openEnded(50);
    const { world, add } = cluster;
    for (let index = 0; index < 300; index++) await add(`pod-${index}`, { phase: 'Succeeded' });
    await world.pass(20 * secondMs);
    const kept = Array.from({ length: 50 }, (_, index) => `pod-${250 + index}`);
    assert.deepEqual(world.names(), kept);
  });
});
