import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenStore } from './scenario.ts';
import { lease, put } from './scenario.ts';

export function foreignKeysSuite(open: OpenStore): void {
  describe('what other programs keep in a namespace', () => {
    test('is nothing where none writes', async () => {
      await using opened = await open();
      const { store } = opened;
      await put(store, lease('a'), '1');
      assert.deepEqual(await store.foreignKeys('kube-node-lease', ['/registry/leases/']), new Map());
    });

    test('is not told by a store that is closed', async () => {
      await using opened = await open();
      await opened.store.close();
      await assert.rejects(opened.store.foreignKeys('a', []), { name: 'StorageError', code: 'closed' });
    });
  });
}
