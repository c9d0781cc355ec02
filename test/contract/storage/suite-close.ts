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
    });
  });
}
