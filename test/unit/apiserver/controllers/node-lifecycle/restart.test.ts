import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '../../../../../src/apiserver/storage/index.ts';
import { interleavedStore, storeWith } from '../interleaved-store.ts';
import { both, openWorld, secondMs } from './world.ts';

async function addTwo(world: Awaited<ReturnType<typeof openWorld>>): Promise<void> {
  await world.addNode('silent');
  await world.addNode('steady');
}

describe('a start of the server', () => {
  test('gives every node its whole time, however long the server was away', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.clock.advance(3600 * secondMs);
    world.alive.delete('silent');
    await world.start();
    await world.pass(30 * secondMs);
    assert.equal(world.ready('silent')?.status, 'True');
    await world.pass(20 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
    assert.equal(world.ready('steady')?.status, 'True');
  });

  test('leaves what stands on a node until it says something better', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.addPod('minute', 'silent', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await world.start();
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    await world.stop();
    const before = world.revision('silent');
    await world.start();
    await world.pass(50 * secondMs);
    assert.equal(world.revision('silent'), before);
    assert.deepEqual(world.taints('silent'), both('unreachable'));
    assert.deepEqual(world.going(), []); // its time has begun anew
    await world.pass(20 * secondMs);
    assert.deepEqual(world.going(), ['minute']);
    await world.comeBack('silent');
    assert.deepEqual(world.taints('silent'), []);
  });

  test('finishes what was begun: conditions without taints, taints of a node that is ready', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.addNode('half');
    world.alive.delete('half');
    await world.say('half', { Ready: 'Unknown' });
    const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }];
    await world.changeNode('steady', (node) => ({ ...node, spec: { taints } }));
    await world.start();
    assert.deepEqual(world.taints('steady'), []);
    await world.pass(30 * secondMs);
    assert.deepEqual(world.taints('half'), []);
    await world.pass(20 * secondMs);
    assert.deepEqual(world.taints('half'), both('unreachable'));
  });
});

describe('time that is not the nodes’ fault', () => {
  test('jumps of the wall clock count for nothing, in either direction', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.start();
    for (const jumpMs of [86_400 * secondMs, -2 * 86_400 * secondMs]) {
      world.clock.setWall(jumpMs);
      await world.pass(20 * secondMs);
    }
    assert.deepEqual([world.ready('silent')?.status, world.ready('steady')?.status], ['True', 'True']);
    world.alive.delete('silent');
    await world.pass(50 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
  });

  test('nor does a suspend, or a stop of the whole process', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.start();
    await world.pass(20 * secondMs);
    world.clock.suspend(3600 * secondMs);
    await world.pass(20 * secondMs);
    await world.clock.stall(3600 * secondMs);
    await world.quiet();
    await world.pass(20 * secondMs);
    assert.deepEqual([world.ready('silent')?.status, world.ready('steady')?.status], ['True', 'True']);
  });

  test('nor does a store that takes no writes, as heartbeats could not be kept: one node may be wronged, for a moment', async () => {
    for (const outageMs of [85, 120, 155, 160, 165, 200, 300].map((seconds) => seconds * secondMs)) {
      let isFull = false;
      const full: Outcome = { ok: false, code: 'full', cause: new Error('no room') };
      await using world = await openWorld({
        seen: (storage) =>
          storeWith(storage, { commit: async (write) => (isFull ? full : await storage.commit(write)) }),
      });
      const names = Array.from({ length: 20 }, (_, index) => `node-${index}`);
      for (const name of names) await world.addNode(name);
      await world.start();
      world.alive.clear(); // what they send is refused
      isFull = true;
      await world.pass(outageMs);
      isFull = false;
      await world.pass(10 * secondMs); // until they try again
      const wronged = () => names.filter((name) => world.ready(name)?.status !== 'True');
      assert.ok(wronged().length <= 1, `${wronged()} after ${outageMs} ms`);
      for (const name of names) world.alive.add(name);
      await world.pass(100 * secondMs);
      assert.ok(wronged().length <= 1);
      world.alive.delete('node-3');
      await world.pass(60 * secondMs);
      assert.ok(wronged().includes('node-3'), 'afterwards all is as before');
    }
  });
});

describe('a write that comes in between', () => {
  test('of the node itself wins: it is not silent, and what it says stays', async () => {
    let isDone = false;
    await using world = await openWorld({
      seen: (storage) =>
        interleavedStore(storage, async ({ key }) => {
          if (isDone || key !== '/registry/nodes/silent') return;
          isDone = true;
          await world.say('silent', { Ready: 'True', MemoryPressure: 'True' });
        }),
    });
    await addTwo(world);
    await world.start();
    world.alive.delete('silent');
    await world.pass(45 * secondMs);
    assert.ok(isDone);
    assert.equal(world.ready('silent')?.status, 'True');
    assert.deepEqual(world.taints('silent'), ['node.kubernetes.io/memory-pressure:NoSchedule']);
    await world.pass(40 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
  });

  test('of somebody else stays: a taint, a label', async () => {
    let writes = 0;
    await using world = await openWorld({
      seen: (storage) =>
        interleavedStore(storage, async ({ key }) => {
          if (key !== '/registry/nodes/silent' || ++writes !== 2) return; // the taints
          await world.nodes.change(
            { namespace: '', name: 'silent' },
            {
              operation: 'Update',
              make: (node) => ({
                ...node,
                metadata: { ...node.metadata, labels: { team: 'red' } },
                spec: { taints: [{ key: 'team', effect: 'NoSchedule' }] },
              }),
            },
            '',
            { user: { name: 'somebody', uid: '', groups: [], extra: {} }, dryRun: false },
          );
        }),
    });
    await addTwo(world);
    await world.start();
    world.alive.delete('silent');
    await world.pass(50 * secondMs);
    assert.deepEqual(world.taints('silent'), ['team:NoSchedule', ...both('unreachable')]);
    assert.equal(world.node('silent').metadata?.labels?.['team'], 'red');
  });

  test('that deletes the node ends it without a word', async () => {
    let isDone = false;
    await using world = await openWorld({
      seen: (storage) =>
        interleavedStore(storage, async ({ key }) => {
          if (isDone || key !== '/registry/nodes/silent') return;
          isDone = true;
          await world.removeNode('silent');
        }),
    });
    await addTwo(world);
    await world.start();
    world.alive.delete('silent');
    await world.pass(80 * secondMs);
    assert.throws(() => world.node('silent'), /not found/);
    assert.doesNotMatch(world.logged(), /will try again/);
  });

  test('that makes the node anew gives it its whole time', async () => {
    await using world = await openWorld();
    await addTwo(world);
    await world.start();
    world.alive.delete('silent');
    await world.pass(30 * secondMs);
    await world.removeNode('silent');
    await world.addNode('silent');
    world.alive.delete('silent');
    await world.pass(30 * secondMs);
    assert.equal(world.ready('silent')?.status, 'True');
    await world.pass(20 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
  });
});
