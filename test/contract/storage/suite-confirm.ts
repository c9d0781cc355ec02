import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenCache } from './open-cache.ts';
import { lease, put, remove, textOf } from './scenario.ts';

const patience = () => AbortSignal.timeout(10_000);

export function confirmSuite(open: OpenCache): void {
  describe('to confirm what memory showed', () => {
    test('holds while nothing is written, before and after the first write', async () => {
      await using opened = await open();
      const { cache } = opened;
      assert.equal(await cache.confirm(cache.applied, patience), 'confirmed');
      await put(cache, lease('a'), '1');
      assert.equal(await cache.confirm(cache.applied, patience), 'confirmed');
      assert.equal(await cache.confirm(cache.applied, () => AbortSignal.abort()), 'confirmed', 'no wait');
    });

    test('ends with all that was durable before it in memory', async () => {
      await using opened = await open();
      const { cache } = opened;
      const since = cache.applied;
      const created = await put(cache, lease('a'), '1');
      assert.notEqual(await cache.confirm(since, patience), 'timeout');
      assert.equal(textOf(cache.get(lease('a'))), '1');
      await remove(cache, lease('a'), created);
      assert.notEqual(await cache.confirm(created, patience), 'timeout');
      assert.equal(cache.get(lease('a')), undefined);
    });

    test('a revision that was given can be reached', async () => {
      await using opened = await open();
      const { cache } = opened;
      const created = await put(cache, lease('a'), '1');
      assert.equal(await cache.canReach(created), true);
      assert.equal(await cache.canReach(await cache.revision()), true);
    });
  });
}
