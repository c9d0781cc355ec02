import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../../src/api/index.ts';
import { atDeletion } from '../interleaved-store.ts';
import { context, prepare, secondMs } from './world.ts';

describe('a pod whose node does not exist', () => {
  test('goes when the node has been missing for 40 seconds, within 20 more', async () => {
    await using world = await prepare();
    await world.create('orphan', 'nowhere');
    await world.remove('orphan');
    await world.clock.advance(39 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
    assert.match(world.logged(), /its node does not exist/);
  });

  test('is Failed first, and tells why', async () => {
    await using world = await prepare();
    await world.create('orphan', 'nowhere');
    await world.clock.advance(62 * secondMs);
    assert.deepEqual(world.history.slice(1), ['Failed DeletionByPodGC PodGC: node no longer exists', 'gone']);
  });

  test('goes when there is no room in it to tell why; one that cannot be removed keeps no other', async () => {
    await using world = await prepare();
    // whoever may make pods can make them as large as the store takes
    const room = async (name: string, finalizers: string[]) => {
      for (let bytes = 1_572_864; ; bytes -= 16) {
        try {
          return await world.createLarge(name, 'nowhere', { finalizers }, bytes);
        } catch (error) {
          if (!(error instanceof StatusError && error.reason === 'RequestEntityTooLarge')) throw error;
        }
      }
    };
    await room('a-held', ['example.org/hold']);
    await room('b-full', []);
    await world.create('orphan', 'nowhere');
    await world.clock.advance(62 * secondMs);
    assert.deepEqual(world.names(), ['a-held']);
    assert.match(world.logged(), /could not be removed: 1 of them, first default\/a-held: /);
  });

  test('goes as it is when it has ended', async () => {
    await using world = await prepare();
    await world.create('orphan', 'nowhere');
    await world.say('orphan', { phase: 'Succeeded' });
    await world.clock.advance(62 * secondMs);
    assert.deepEqual(world.history.slice(1), ['Succeeded', 'gone']);
  });

  test('goes whether it is deleted or not; one whose node is there stays, and one that has none', async () => {
    await using world = await prepare();
    await world.createNode('here');
    for (const [name, node] of [
      ['orphan', 'nowhere'],
      ['running', 'nowhere'],
      ['stopping', 'here'],
      ['running-here', 'here'],
      ['unbound', ''],
    ] as const) {
      await world.create(name, node);
    }
    await world.create('annotated', 'here', { annotations: { nodeName: 'nowhere' } });
    for (const name of ['orphan', 'stopping']) await world.remove(name);
    await world.clock.advance(300 * secondMs);
    assert.deepEqual(world.names(), ['annotated', 'running-here', 'stopping', 'unbound']);
  });

  test('has its time begin anew when the node comes back, if only for a moment', async () => {
    await using world = await prepare();
    await world.create('orphan', 'flaky');
    await world.remove('orphan');
    await world.clock.advance(39 * secondMs);
    await world.createNode('flaky');
    await world.removeNode('flaky');
    await world.clock.advance(39 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('has its time begin when its node is first missed, however the clock on the wall goes', async () => {
    await using world = await prepare();
    await world.createNode('here');
    await world.create('orphan', 'here');
    await world.clock.advance(300 * secondMs);
    await world.removeNode('here');
    await world.clock.advance(25 * secondMs);
    world.clock.setWall(3600 * secondMs);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('keeps its finalizers, and is not asked for again', async () => {
    await using world = await prepare();
    await world.create('held', 'nowhere', { finalizers: ['example.com/hold'] });
    await world.remove('held');
    await world.clock.advance(62 * secondMs);
    const held = world.pods.get('default', 'held');
    const { metadata } = world.pods.encoding.read(held);
    assert.deepEqual(metadata?.finalizers, ['example.com/hold']);
    assert.equal(metadata?.deletionGracePeriodSeconds, 0);
    await world.clock.advance(300 * secondMs);
    assert.equal(world.pods.get('default', 'held').revision, held.revision);
    assert.equal(world.logged().match(/does not exist/g)?.length, 1);
  });

  test('stays for now when it has changed meanwhile', async () => {
    let changed = 0;
    const touch = atDeletion('/registry/pods/default/orphan', async () => {
      const { metadata } = world.pods.encoding.read(world.pods.get('default', 'orphan'));
      const place = { namespace: 'default', name: 'orphan' };
      const touched = await world.pods.changeMetadata(
        place,
        metadata?.uid ?? '',
        (before) => ({ ...before, annotations: { touched: 'yes' } }),
        context,
      );
      changed = touched.revision;
    });
    await using world = await prepare(touch);
    await world.create('orphan', 'nowhere');
    await world.remove('orphan');
    await world.clock.advanceUntil(() => changed > 0, 62 * secondMs);
    await world.clock.advance(secondMs);
    assert.equal(world.pods.get('default', 'orphan').revision, changed);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('goes with more than a page of others, though only so many nodes are timed at once', async () => {
    await using world = await prepare();
    const names = Array.from({ length: 1050 }, (_, index) => `orphan-${index}`);
    for (const name of names) await world.create(name, `nowhere-${name}`);
    for (const name of names) await world.remove(name);
    await world.pass(60 * secondMs);
    assert.equal(world.names().length, 50);
    await world.pass(80 * secondMs);
    assert.deepEqual(world.names(), []);
  });
});
