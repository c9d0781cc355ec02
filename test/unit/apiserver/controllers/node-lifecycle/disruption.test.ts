import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rounds } from '../../../../support/repetition.ts';
import { storeWith } from '../interleaved-store.ts';
import type { World } from './world.ts';
import { both, openWorld, secondMs } from './world.ts';

const zone = (name: string) => ({ 'topology.kubernetes.io/zone': name });
/** All of a large zone; so many that work on each for each of the others would show. */
const many = rounds({ usual: 1000, full: 5000 });
const noSchedule = both('unreachable').slice(0, 1);

/** Nodes `prefix-0` and so on. */
async function addNodes(world: World, prefix: string, count: number, labels = {}): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  await Promise.all(names.map((name) => world.addNode(name, labels)));
  return names;
}

function silence(world: World, names: readonly string[]): void {
  for (const name of names) world.alive.delete(name);
}

/** How many of them are given up. */
function givenUp(world: World, names: readonly string[]): number {
  return names.filter((name) => world.taints(name).includes('node.kubernetes.io/unreachable:NoExecute'))
    .length;
}

describe('when many nodes go at once', () => {
  test('one in ten seconds is given up; all are told to be unreachable at once', async () => {
    await using world = await openWorld();
    const names = await addNodes(world, 'node', 30);
    await world.start();
    const lost = names.slice(0, 10);
    await world.pass(20 * secondMs);
    silence(world, lost);
    await world.pass(40 * secondMs);
    for (const name of lost) assert.equal(world.ready(name)?.status, 'Unknown');
    const first = givenUp(world, lost);
    assert.ok(first <= 2, `${first} at once`);
    await world.pass(50 * secondMs);
    assert.equal(givenUp(world, lost), first + 5);
    await world.pass(100 * secondMs);
    assert.equal(givenUp(world, lost), 10);
  });

  test('in a small zone that is mostly gone nobody is given up, in a large one few, elsewhere as always', async () => {
    await using world = await openWorld();
    const small = await addNodes(world, 'small', 10, zone('small'));
    const large = await addNodes(world, 'large', 60, zone('large'));
    const other = await addNodes(world, 'other', 10, zone('other'));
    await world.start();
    const lost = [small.slice(0, 6), large.slice(0, 40), other.slice(0, 3)];
    silence(world, lost.flat());
    await world.pass(40 * secondMs);
    const at = () => lost.map((names) => givenUp(world, names));
    assert.deepEqual(at(), [0, 1, 1]);
    await world.pass(100 * secondMs);
    assert.deepEqual(at(), [0, 2, 3]);
    // more of the small zone come back than stay away: it is not disrupted any more
    for (const name of small.slice(0, 3)) await world.comeBack(name);
    await world.pass(40 * secondMs);
    assert.deepEqual(at(), [3, 2, 3]);
  });

  test('and none is left, nobody is given up, and who was is not any more; the others’ time begins anew', async () => {
    await using world = await openWorld();
    const names = await addNodes(world, 'node', 4);
    await world.addPod('plain', 'node-1');
    await world.addPod('minute', 'node-0', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await world.start();
    silence(world, ['node-0']);
    await world.pass(40 * secondMs);
    assert.deepEqual(world.taints('node-0'), both('unreachable'));
    silence(world, names);
    await world.pass(60 * secondMs);
    for (const name of names) assert.deepEqual(world.taints(name), noSchedule, name);
    await world.pass(600 * secondMs);
    assert.deepEqual(world.going(), []);
    await world.comeBack('node-2');
    await world.comeBack('node-3');
    await world.pass(30 * secondMs);
    assert.equal(givenUp(world, names), 0);
    await world.pass(40 * secondMs);
    assert.equal(givenUp(world, names), 2);
    assert.deepEqual(world.going(), ['plain']);
  });

  test('a node that is alone is never given up', async () => {
    await using world = await openWorld();
    await world.addNode('only');
    await world.addPod('plain', 'only');
    await world.start();
    silence(world, ['only']);
    await world.pass(200 * secondMs);
    assert.deepEqual(world.taints('only'), noSchedule);
    assert.deepEqual(world.going(), []);
  });

  test(`${many}: each is written twice and told of once, one is given up, and from then on nothing is read or written`, async () => {
    let reads = 0;
    await using world = await openWorld({
      seen: (storage) =>
        storeWith(storage, {
          get(key) {
            reads++;
            return storage.get(key);
          },
        }),
    });
    const lost = await addNodes(world, 'lost', many, zone('lost'));
    await world.addNode('steady');
    await world.start();
    silence(world, lost);
    const before = world.storage.applied;
    const cpu = process.cpuUsage();
    await world.pass(40 * secondMs);
    const { user, system } = process.cpuUsage(cpu);
    const renewals = 4;
    assert.equal(world.storage.applied - before - renewals, 3 * many);
    assert.ok(lost.every((name) => world.ready(name)?.status === 'Unknown'));
    assert.equal(givenUp(world, lost), 1);
    assert.ok(user + system < 4000 * many, `${(user + system) / 1e6} s of CPU`);
    // each node that was written is looked at once more
    for (let round = 0, known = -1; reads !== known && round < 100; round++) {
      known = reads;
      await world.quiet();
    }
    reads = 0;
    await world.clock.advance(5 * secondMs);
    await world.quiet();
    assert.equal(reads, 0);
    await world.pass(100 * secondMs);
    assert.equal(givenUp(world, lost), 11);
  });
});
