import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FieldIndex } from '../../../../src/apiserver/registry/field-index.ts';
import type { CachedStore, Stored } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';

const prefix = '/registry/pods/';
const keyOf = (name: string) => `${prefix}default/${name}`;
const nodeOf = (stored: Stored) => Buffer.from(stored.value).toString();

async function prepare() {
  const storage = await createCache(await openStore({ kind: 'memory' }));
  const index = new FieldIndex(storage, prefix, nodeOf);
  const on = async (node: string, after = '') =>
    (await index.list(node, prefix, after)).items.map(({ key }) => key.slice(keyOf('').length));
  return { storage, index, on, [Symbol.asyncDispose]: () => storage.close() };
}

/** Puts an object on a node; null: deletes it where it is there. */
async function write(storage: CachedStore, name: string, node: string | null): Promise<void> {
  const now = storage.get(keyOf(name));
  if (now === undefined && node === null) return;
  const value = node === null ? null : Buffer.from(node);
  const outcome = await storage.commit({ key: keyOf(name), expect: now?.revision ?? 0, value });
  assert.ok(outcome.ok);
}

describe('an index of a field', () => {
  test('forgets what was deleted, whether it was looked at before or not', async () => {
    await using world = await prepare();
    const { storage, index, on } = world;
    for (const name of ['a', 'b', 'c']) await write(storage, name, 'one');
    assert.deepEqual(await on('one'), ['a', 'b', 'c']);
    assert.equal(index.size, 3);
    await write(storage, 'a', null);
    await write(storage, 'unseen', 'one');
    await write(storage, 'unseen', null);
    await write(storage, 'b', 'two');
    await write(storage, 'b', null);
    assert.equal(index.size, 1, 'without anybody looking');
    assert.deepEqual([await on('one'), await on('two')], [['c'], []]);
    await write(storage, 'c', null);
    assert.equal(index.size, 0);
    await write(storage, 'a', 'two');
    assert.deepEqual([await on('one'), await on('two')], [[], ['a']], 'what comes again is new');
  });

  test('knows other objects from its own', async () => {
    await using world = await prepare();
    const outcome = await world.storage.commit({
      key: '/registry/nodes/a',
      expect: 0,
      value: Buffer.from('x'),
    });
    assert.ok(outcome.ok);
    assert.equal(world.index.size, 0);
  });

  test('shows what a look at every object would, in order, and holds no more keys than there are', async () => {
    const nodes = fc.constantFrom('one', 'two', null);
    const writes = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), node: nodes }));
    const rounds = fc.array(writes, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rounds, fc.constantFrom('', 'b', 'bb'), async (all, behind) => {
        await using world = await prepare();
        const { storage, index, on } = world;
        for (const round of all) {
          for (const { name, node } of round) await write(storage, name, node);
          const { items } = storage.list(prefix, '', 0);
          assert.equal(index.size, items.length);
          for (const node of ['one', 'two']) {
            const expected = items
              .filter((stored) => nodeOf(stored) === node && stored.key > keyOf(behind))
              .map(({ key }) => key.slice(keyOf('').length));
            assert.deepEqual(await on(node, behind && keyOf(behind)), expected);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
