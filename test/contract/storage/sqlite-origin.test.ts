import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { Stored } from '../../../src/apiserver/storage/index.ts';
import { restoreStore } from '../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { makeFormat1 } from './format-1.ts';
import { SqliteFolder } from './sqlite-folder.ts';

const clock = createManualClock();

describe('a store tells how it came to be', () => {
  for (const [how, isExpected] of [
    ['new', false],
    ['missing', true],
  ] as const) {
    test(`made as ${how}, whenever and by whomever it is opened later`, async () => {
      await using folder = await SqliteFolder.make();
      const atMs = clock.now();
      const first = await folder.open({ clock, isExpected });
      assert.deepEqual(first.origin, { how, atMs });
      await first.close();
      await clock.advance(5_000);
      const second = await folder.open({ clock, isExpected: true, identity: undefined });
      assert.equal(second.fresh, false);
      assert.deepEqual(second.origin, { how, atMs });
      assert.deepEqual((await second.run('stats')).origin, { how, atMs });
      await second.run('defrag');
      assert.deepEqual((await second.run('check')).problems, []);
    });
  }

  test('restored from a snapshot', async () => {
    await using folder = await SqliteFolder.make();
    const now = new Date('2026-03-04T05:06:07Z');
    await restoreStore({
      folder: folder.path,
      groupSuffix: 'k8s.io',
      revision: 7,
      force: false,
      now,
      objects: nothing(),
    });
    const store = await folder.open({ isExpected: true });
    assert.deepEqual(store.origin, { how: 'restored', atMs: now.getTime() });
  });

  test('not when it was made before that was recorded', async () => {
    await using folder = await SqliteFolder.make();
    makeFormat1(join(folder.path, 'store.sqlite'));
    const store = await folder.open();
    assert.equal(store.origin, undefined);
    assert.equal((await store.run('stats')).origin, null);
  });

  test('not when what is recorded is of no kind that it knows', async () => {
    await using folder = await SqliteFolder.make();
    await (await folder.open()).close();
    {
      using database = new DatabaseSync(join(folder.path, 'store.sqlite'));
      database.exec(`UPDATE origin SET how = 'dreamt'`);
    }
    assert.equal((await folder.open()).origin, undefined);
  });
});

async function* nothing(): AsyncGenerator<Stored> {
  yield* [];
}
