import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { MaintainedStore } from '../../../src/apiserver/storage/index.ts';
import { recordedLog } from '../../unit/base/recorded-log.ts';
import { allAt, lease, put, readChanges, remove } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

const mebibyte = 1024 * 1024;

describe('history of a sqlite store', () => {
  test('is cut at its bound in bytes, and what is left is whole', async () => {
    await using folder = await SqliteFolder.make();
    const { log, text: logged } = recordedLog('json', 'info');
    const store = await folder.open({ historyBytes: 2 * mebibyte, log });
    const first = await put(store, lease('first'), 'as it was at first');
    const last = await writeOver(store, 40, 30, 10_000); // 12 MB, of which 0.4 MB are not history
    const { history, compacted, revision } = await store.run('stats');
    assert.equal(history.limitBytes, 2 * mebibyte);
    assert.ok(history.bytes <= 2 * mebibyte, `${history.bytes} bytes are kept`);
    assert.ok(history.bytes > mebibyte, `${history.bytes} bytes are kept: not much less than may be`);
    assert.equal(revision, last);
    assert.ok(compacted > first, 'the oldest is gone, however young');
    assert.equal(await store.listAt('', first, '', 0), 'compacted');
    const { seen } = await readChanges(store, '', compacted, last);
    assert.equal(seen.length, last - compacted, 'every change since is told');
    assert.equal((await allAt(store, '', last)).length, 41);
    assert.ok(store.history.cuts > 0, 'it is counted');
    assert.ok(store.history.keptMs < store.history.windowMs, 'the window shrank');
    assert.match(logged(), /history of \d+ s is kept instead of 300 s: .*--history-bytes/);
    assert.equal(logged().trim().split('\n').length, 1, 'told once, not at each cut');
  });

  test('takes what stats say, through deletions, compactions and openings', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    await writeOver(first, 10, 20, 1_000);
    const gone = await put(first, lease('gone'), 'x'.repeat(5_000));
    const end = await remove(first, lease('gone'), gone);
    const before = await first.run('stats');
    assert.ok(before.history.bytes > 10 * 19 * 1_000 + 5_000, 'what was replaced and what was deleted');
    assert.ok(before.history.bytes < 10 * 19 * 1_200 + 6_000, `not more: ${before.history.bytes}`);
    await first.close();
    const second = await folder.open();
    assert.deepEqual((await second.run('stats')).history.bytes, before.history.bytes);
    await second.compact(end);
    const after = await second.run('stats');
    assert.equal(after.history.bytes, 0, 'nothing is left of it');
    assert.equal(after.objects, 10);
  });

  test('stays while it is held, and goes when it is not', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open({ historyBytes: mebibyte });
    await writeOver(store, 5, 5, 1_000);
    const hold = await store.hold();
    const state = await allAt(store, '', hold.revision);
    await writeOver(store, 40, 10, 10_000, 'later');
    await store.compact(await store.revision());
    assert.deepEqual(await allAt(store, '', hold.revision), state);
    assert.ok((await store.run('stats')).history.bytes > mebibyte);
    hold[Symbol.dispose]();
    await put(store, lease('next'), '1');
    await store.compact(await store.revision());
    assert.equal(await store.listAt('', hold.revision, '', 0), 'compacted');
  });

  test('does not let the log file grow while it is read, or forgotten', { timeout: 60_000 }, async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open({ historyMs: 500, historyBytes: 64 * mebibyte });
    await writeOver(store, 50, 10, 10_000);
    const stop = new AbortController();
    const follower = store.changes('', 1, stop.signal)[Symbol.asyncIterator]();
    await follower.next(); // and takes no more: a reader that is held open
    using hold = await store.hold();
    const firstPage = await store.listAt('', hold.revision, '', 10);
    let largest = 0;
    for (let round = 0; round < 20; round++) {
      await writeOver(store, 50, 5, 10_000, `round-${round}`);
      largest = Math.max(largest, (await stat(join(folder.path, 'store.sqlite-wal'))).size);
    }
    assert.ok(
      typeof firstPage !== 'string' && typeof (await store.listAt('', hold.revision, '', 0)) !== 'string',
    );
    assert.ok(largest < 16 * mebibyte, `the log file had ${largest} bytes while 50 MB were written`);
    stop.abort();
  });
});

/** Writes keys again and again, all at once. Answers the last revision. */
async function writeOver(
  store: MaintainedStore,
  keys: number,
  times: number,
  bytes: number,
  prefix = 'k',
): Promise<number> {
  const revisions = await Promise.all(
    Array.from({ length: keys }, async (_, key) => {
      let revision = 0;
      for (let time = 0; time < times; time++) {
        revision = await put(store, lease(`${prefix}-${key}`), 'x'.repeat(bytes), revision);
      }
      return revision;
    }),
  );
  return Math.max(...revisions);
}
