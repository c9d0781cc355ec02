import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenCache } from './open-cache.ts';
import { bytes, lease, put, remove, shown, textOf } from './scenario.ts';

export function cacheReadsSuite(open: OpenCache): void {
  describe('reads of the cache', () => {
    test('start with what the store holds', async () => {
      await using opened = await open({}, async (store) => {
        const written: number[] = [];
        for (let n = 0; n < 1_100; n++) written.push(await put(store, lease(`n${n}`), String(n)));
        await remove(store, lease('n7'), written[7] ?? 0);
      });
      const { cache } = opened;
      assert.equal(cache.applied, await cache.revision());
      assert.equal(cache.list(lease(''), '', 0).items.length, 1_099);
      assert.equal(textOf(cache.get(lease('n1099'))), '1099');
      assert.equal(cache.get(lease('n7')), undefined);
    });

    test('show a write as soon as it is answered', async () => {
      await using opened = await open();
      const { cache } = opened;
      const writers = Array.from({ length: 100 }, async (_, n) => {
        const created = await put(cache, lease(`n${n}`), '1');
        assert.equal(textOf(cache.get(lease(`n${n}`))), '1');
        assert.ok(cache.applied >= created);
        await remove(cache, lease(`n${n}`), created);
        assert.equal(cache.get(lease(`n${n}`)), undefined);
      });
      await Promise.all(writers);
    });

    test('show what a conflict was about as soon as it is answered', async () => {
      await using opened = await open();
      const { cache } = opened;
      const race = Array.from({ length: 10 }, async (_, n) => {
        const outcome = await cache.commit({ key: lease('a'), expect: 0, value: bytes(String(n)) });
        assert.equal(cache.get(lease('a'))?.revision, outcome.ok ? outcome.revision : cache.applied);
      });
      await Promise.all(race);
    });

    test('tell listeners every change in order, before its writer is answered', async () => {
      await using opened = await open();
      const { cache } = opened;
      const told: string[] = [];
      const listening = cache.follow('', (change) => told.push(shown(change)));
      const created = await put(cache, lease('a'), '1');
      assert.deepEqual(told, [`${created} ${lease('a')} - > 1@${created}/${created}`]);
      const deleted = await remove(cache, lease('a'), created);
      assert.equal(told.at(-1), `${deleted} ${lease('a')} 1@${created}/${created} > -`);
      listening[Symbol.dispose]();
      listening[Symbol.dispose]();
      await put(cache, lease('a'), '2');
      assert.equal(told.length, 2);
    });

    test('survive a listener that throws', async () => {
      await using opened = await open();
      opened.cache.follow('', () => {
        throw new Error('a listener of the test');
      });
      await put(opened.cache, lease('a'), '1');
      assert.equal(textOf(opened.cache.get(lease('a'))), '1');
    });

    test('list in pages, within a bucket and across', async () => {
      await using opened = await open();
      const { cache } = opened;
      const keys = [
        '/registry/a/x/1',
        '/registry/a/x/2',
        '/registry/a/y/1',
        '/registry/b/1',
        '/zzz',
        '/registry/\u{1f600}/1',
      ];
      for (const key of keys) await put(cache, key, key);
      const all = cache.list('', '', 0).items.map((item) => item.key);
      assert.deepEqual(
        all,
        keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      const page = cache.list('/registry/', '/registry/a/x/1', 2);
      assert.deepEqual(
        page.items.map((item) => item.key),
        ['/registry/a/x/2', '/registry/a/y/1'],
      );
      assert.deepEqual([page.remaining, page.revision], [2, cache.applied]);
      const inside = cache.list('/registry/a/x', '', 1);
      assert.deepEqual([inside.items[0]?.key, inside.remaining], ['/registry/a/x/1', 1]);
      assert.deepEqual(cache.list('/registry/none/', '', 5).items, []);
    });

    test('wait for a revision, or until the caller has enough', async () => {
      await using opened = await open();
      const { cache } = opened;
      const now = cache.applied;
      const patience = new AbortController();
      assert.equal(await cache.waitFor(now, patience.signal), 'ready');
      const waiting = cache.waitFor(now + 2, patience.signal);
      const forever = cache.waitFor(now + 1_000, patience.signal);
      await put(cache, lease('a'), '1');
      await put(cache, lease('b'), '1');
      assert.equal(await waiting, 'ready');
      patience.abort();
      assert.equal(await forever, 'timeout');
      assert.equal(await cache.waitFor(now + 1_000, AbortSignal.abort()), 'timeout');
    });

    test('who waits is let go when the cache closes', async () => {
      await using opened = await open();
      const waiting = opened.cache.waitFor(opened.cache.applied + 1, new AbortController().signal);
      await opened.cache.close();
      assert.equal(await waiting, 'timeout');
    });
  });
}
