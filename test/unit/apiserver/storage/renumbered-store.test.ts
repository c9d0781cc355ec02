import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../../../src/apiserver/storage/memory/store.ts';
import { RenumberedStore } from '../../../../src/apiserver/storage/renumbered-store.ts';
import type { StoreChange } from '../../../../src/apiserver/storage/types.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';

const offset = 1_000_000;
const value = (text: string) => Buffer.from(JSON.stringify({ text }));

/** Three objects that were copied, at revisions of the store behind, and then the store is opened. */
async function copied() {
  const behind = new MemoryStore();
  for (const key of ['/registry/a', '/registry/b', '/registry/c']) {
    await behind.commit({ key, expect: 0, value: value('copied') });
  }
  const last = await behind.revision();
  const floor = last + offset;
  const store = new RenumberedStore(behind, { offset, floor });
  return { store, floor, last, [Symbol.asyncDispose]: () => store.close() };
}

describe('a store that goes on where another one ended', () => {
  test('hands out revisions beyond the old ones only', async () => {
    await using opened = await copied();
    const { store, floor } = opened;
    assert.equal(await store.revision(), floor);
    const page = await store.listAt('', floor, '', 0);
    assert.ok(typeof page === 'object' && page.revision === floor);
    assert.equal(page.items.length, 3);
    for (const { revision, createRevision } of page.items) {
      assert.ok(revision > offset && createRevision === revision && revision <= floor);
    }
    const made = await store.commit({ key: '/registry/d', expect: 0, value: value('new') });
    assert.ok(made.ok && made.revision > floor && made.now?.revision === made.revision);
    assert.equal(made.now.createRevision, made.revision);
  });

  test('knows nothing of the time before', async () => {
    await using opened = await copied();
    const { store, floor } = opened;
    for (const revision of [0, 1, floor - offset, offset, floor - 1]) {
      assert.equal(await store.listAt('', revision, '', 0), 'compacted', String(revision));
      const told = await Array.fromAsync(store.changes('', revision, AbortSignal.timeout(5_000)));
      assert.deepEqual(told, ['compacted'], String(revision));
    }
    assert.equal(await store.listAt('', floor + 1, '', 0), 'future');
  });

  test('a write that expects a revision of the time before is a conflict, whatever it is', async () => {
    await using opened = await copied();
    const { store, last } = opened;
    for (const expect of [1, last, last + 1, offset]) {
      for (const next of [value('stale'), null]) {
        const outcome = await store.commit({ key: '/registry/c', expect, value: next });
        assert.ok(!outcome.ok && outcome.code === 'conflict', String(expect));
        assert.ok((outcome.now?.revision ?? 0) > offset);
      }
    }
  });

  test('changes are told with revisions as they are listed, and what is expected of those is found', async () => {
    await using opened = await copied();
    const { store, floor } = opened;
    const end = new AbortController();
    const told: StoreChange[] = [];
    const follow = (async () => {
      for await (const batch of store.changes('/registry/', floor, end.signal)) {
        if (typeof batch !== 'string' && !('progress' in batch)) told.push(...batch);
        if (told.length >= 2) end.abort();
      }
    })();
    const [first] = await itemsOf(store);
    assert.ok(first !== undefined);
    const changed = await store.commit({
      key: first.key,
      expect: first.revision,
      value: value('x'),
      previous: first,
    });
    assert.ok(changed.ok);
    assert.equal(changed.now?.createRevision, first.createRevision);
    const gone = await store.commit({ key: first.key, expect: changed.revision, value: null });
    assert.ok(gone.ok && gone.now === null);
    await follow;
    assert.deepEqual(
      told.map(({ revision, previous, next }) => [revision, previous?.revision, next?.revision]),
      [
        [changed.revision, first.revision, changed.revision],
        [gone.revision, told[1]?.previous?.revision, undefined],
      ],
    );
    assert.ok((told[1]?.previous?.revision ?? 0) > floor);
  });

  test('what cannot be read has revisions of the same count, and foreign keys are those of the store behind', async () => {
    await using behind = new MemoryStore();
    await behind.commit({ key: '/registry/a', expect: 0, value: Buffer.from('?') });
    const floor = (await behind.revision()) + offset;
    const store = new RenumberedStore(new VeiledStore(behind, false), { offset, floor });
    const page = await store.listAt('', floor, '', 0);
    assert.ok(typeof page === 'object');
    assert.deepEqual(
      page.unreadable?.map(({ key, revision, createRevision }) => [key, revision, createRevision]),
      [['/registry/a', floor, floor]],
    );
    const refused = await store.commit({ key: '/registry/a', expect: 0, value: value('x') });
    assert.ok(!refused.ok && refused.code === 'conflict' && refused.now?.revision === floor);
    assert.deepEqual(await store.foreignKeys('a', []), new Map());
  });

  test('forgets by its own count', async () => {
    await using opened = await copied();
    const { store, floor } = opened;
    const made = await store.commit({ key: '/registry/d', expect: 0, value: value('new') });
    assert.ok(made.ok);
    await store.compact(1);
    assert.ok(
      typeof (await store.listAt('', floor, '', 0)) === 'object',
      'what is older than all is forgotten already',
    );
    await store.compact(made.revision);
    assert.equal(await store.listAt('', floor, '', 0), 'compacted');
  });
});

async function itemsOf(store: RenumberedStore) {
  const page = await store.listAt('', await store.revision(), '', 0);
  return typeof page === 'string' ? [] : page.items;
}
