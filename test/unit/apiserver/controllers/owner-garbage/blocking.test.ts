import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBlockTest } from '../../../../../src/apiserver/controllers/owner-garbage/blocking.ts';
import { Dependents } from '../../../../../src/apiserver/controllers/owner-garbage/dependents.ts';
import { createObjects } from '../../../../../src/apiserver/controllers/owner-garbage/objects.ts';
import { storeWith } from '../interleaved-store.ts';
import type { Name } from './world.ts';
import { garbageWorld } from './world.ts';

const blocking = { blockOwnerDeletion: true };
const Foreground = { propagationPolicy: 'Foreground' } as const;

/** `x/a` and so many others that own it and that it owns, all of them waiting; and the bytes that are read from here. */
async function circles(count: number) {
  const world = await garbageWorld();
  const names = Array.from({ length: count }, (_, index): Name => `x/b${index}`);
  await world.create('x/a');
  for (const name of names) await world.create(name, { ownerReferences: [world.owner('x/a', blocking)] });
  const ownerReferences = names.map((name) => world.owner(name, blocking));
  await world.change('x/a', (metadata) => ({ ...metadata, ownerReferences }));
  for (const name of [...names, 'x/a']) await world.remove(name, Foreground);
  const dependents = new Dependents();
  for (const name of [...names, 'x/a']) {
    const uids = world.must(name).ownerReferences?.map(({ uid }) => uid);
    dependents.set(world.keyOf(name), uids ?? []);
  }
  const read = { bytes: 0 };
  const counting = storeWith(world.storage, {
    get(key) {
      const stored = world.storage.get(key);
      read.bytes += stored?.value.length ?? 0;
      return stored;
    },
  });
  const objects = createObjects(world.registry, counting);
  const isBlocked = createBlockTest(objects, dependents);
  return {
    world,
    names,
    read,
    async isBlocked(name: Name): Promise<boolean> {
      const owner = objects.find(world.keyOf(name));
      assert.ok(owner);
      return await isBlocked(owner);
    },
    size: () => [...names, 'x/a'].reduce((sum, name) => sum + lengthOf(name), 0),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
    },
  };

  function lengthOf(name: Name): number {
    return world.storage.get(world.keyOf(name))?.value.length ?? 0;
  }
}

describe('who waits for an owner that waits for it', () => {
  test('holds nobody up, and is told by reading each once or twice', async () => {
    await using all = await circles(300);
    assert.equal(await all.isBlocked('x/a'), false);
    assert.equal(await all.isBlocked('x/b7'), false);
    assert.ok(all.read.bytes < 5 * all.size(), `${all.read.bytes} bytes of ${all.size()} that there are`);
  });

  test('nor do others keep one from holding up that waits for nobody', async () => {
    await using all = await circles(30);
    await all.world.change('x/b29', ({ finalizers: _finalizers, ...metadata }) => ({
      ...metadata,
      finalizers: ['example.com/hold'],
    }));
    assert.equal(await all.isBlocked('x/a'), true);
    assert.equal(await all.isBlocked('x/b7'), false);
  });
});
