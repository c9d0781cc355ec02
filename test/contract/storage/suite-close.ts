import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StorageError } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { bytes, lease, put } from './scenario.ts';

export function closeSuite(open: OpenStore): void {
  describe('close', () => {
    test('finishes what was accepted, also writers of one key that wait for each other', async () => {
      await using opened = await open();
      const { store } = opened;
      const accepted = Array.from({ length: 50 }, (_, n) =>
        store.commit({ key: lease(`n${n % 10}`), expect: 0, value: bytes(String(n)) }),
      );
      await store.close();
      const outcomes = await Promise.all(accepted);
      assert.equal(outcomes.filter((outcome) => outcome.ok).length, 10);
      assert.equal(outcomes.filter((outcome) => !outcome.ok && outcome.code === 'conflict').length, 40);
    });

    test('may be called twice, also at once', async () => {
      await using opened = await open();
      await put(opened.store, lease('a'), '1');
      await Promise.all([opened.store.close(), opened.store.close()]);
      await opened.store.close();
      await opened.store[Symbol.asyncDispose]();
    });

    test('is no failure, and neither is any use before', async () => {
      await using opened = await open();
      const { store } = opened;
      const revision = await put(store, lease('a'), '1');
      await store.commit({ key: lease('a'), expect: revision + 1, value: null });
      assert.equal(store.failed.aborted, false);
      await store.close();
      assert.equal(store.failed.aborted, false);
    });

    test('afterwards nothing is written and nothing is read', async () => {
      await using opened = await open();
      const { store } = opened;
      const revision = await put(store, lease('a'), '1');
      await store.close();
      const late = await store.commit({ key: lease('a'), expect: revision, value: bytes('2') });
      assert.ok(!late.ok && late.code === 'unavailable');
      const closed = (error: unknown) => error instanceof StorageError && error.code === 'closed';
      await assert.rejects(store.revision(), closed);
      await assert.rejects(store.listAt('/other/kind/', revision, '', 0), closed);
      await assert.rejects(store.compact(revision), closed);
      for (const after of [revision - 1, revision]) {
        const changes = store.changes('', after, new AbortController().signal)[Symbol.asyncIterator]();
        await assert.rejects(Promise.resolve(changes.next()), closed, `changes after ${after}`);
        assert.deepEqual(await changes.next(), { done: true, value: undefined });
      }
    });

    test('ends all who follow, in order, with what was accepted', { timeout: 20_000 }, async () => {
      await using opened = await open();
      const { store } = opened;
      const start = await store.revision();
      const following = Array.fromAsync(store.changes('', start, new AbortController().signal));
      const accepted = [lease('a'), lease('b')].map((key) =>
        store.commit({ key, expect: 0, value: bytes('1') }),
      );
      await store.close();
      for (const outcome of await Promise.all(accepted)) assert.ok(outcome.ok);
      const told = (await following).flatMap((batch) => (Array.isArray(batch) ? batch : []));
      assert.equal(told.length, 2);
    });

    test('ends who is behind and does not come to an end by himself', { timeout: 20_000 }, async () => {
      await using opened = await open();
      const { store } = opened;
      const start = await store.revision();
      // more than memory keeps for those who follow
      await Promise.all(Array.from({ length: 5_000 }, (_, n) => put(store, lease(`n${n}`), 'x')));
      const slow = store.changes('', start, new AbortController().signal)[Symbol.asyncIterator]();
      const first = await slow.next();
      assert.ok(!first.done && Array.isArray(first.value) && first.value.length > 0);
      const closing = store.close();
      let batches = 0;
      while (!(await slow.next()).done) batches++;
      assert.ok(batches < 5_000);
      await closing;
    });
  });
}
