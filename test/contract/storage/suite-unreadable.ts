import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CachedStore, Store } from '../../../src/apiserver/storage/index.ts';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import { recordedLog } from '../../unit/base/recorded-log.ts';
import { everything, RecordingSink, TextEncoding } from './recording-sink.ts';
import type { OpenStore } from './scenario.ts';
import { bytes, eventually, lease, put, remove, shown, textOf } from './scenario.ts';
import { VeiledStore } from './veiled-store.ts';

const leases = lease('');

/** A cache, and `other`: another program that writes to the same store. */
export async function openShared(open: OpenStore, before?: (other: Store) => Promise<unknown>) {
  await using opening = new AsyncDisposableStack();
  const { store: other } = opening.use(await open());
  await before?.(other);
  const { log, text } = recordedLog();
  const cache = opening.use(await createCache(new VeiledStore(other), { log }));
  const changes: string[] = [];
  cache.follow('', (change) => changes.push(shown(change)));
  const opened = opening.move();
  const lines = () => text().split('\n');
  return { other, cache, changes, lines, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function reached(cache: CachedStore, revision: number): Promise<void> {
  assert.equal(await cache.waitFor(revision, AbortSignal.timeout(10_000)), 'ready');
}

function watched(cache: CachedStore, revision: number): RecordingSink {
  const sink = new RecordingSink();
  cache.watch(leases, { at: 'exact', revision }, everything, new TextEncoding(), sink);
  return sink;
}

export function unreadableSuite(open: OpenStore): void {
  describe('an object that becomes unreadable', () => {
    test('is neither deleted nor changed for followers and watches, and is no absence', async () => {
      await using opened = await openShared(open);
      const { other, cache, changes } = opened;
      const first = await put(cache, lease('a'), '1');
      const sink = watched(cache, first);
      const veiledAt = await put(other, lease('a'), '?', first);
      const last = await put(cache, lease('b'), '1');
      await reached(cache, veiledAt);
      await sink.has(1);
      assert.deepEqual(sink.events, [`ADDED ${lease('b')} 1@${last}`]);
      assert.deepEqual(changes.length, 2, 'a and b were created, and that is all');
      assert.deepEqual(cache.lookup(lease('a')), {
        key: lease('a'),
        revision: veiledAt,
        createRevision: first,
        why: 'it is veiled',
      });
      assert.equal(textOf(cache.get(lease('a'))), '1', 'its last readable state');
      const list = cache.list(leases, '', 0);
      assert.deepEqual(list.unreadable, [cache.lookup(lease('a'))]);
      assert.deepEqual(cache.unreadable(leases), [cache.lookup(lease('a'))]);
      assert.equal(cache.list(lease('b'), '', 0).unreadable, undefined, 'of another prefix');
    });

    test('is not overwritten, not deleted, and not created', async () => {
      await using opened = await openShared(open);
      const { other, cache } = opened;
      const first = await put(cache, lease('a'), '1');
      const veiledAt = await put(other, lease('a'), '?', first);
      for (const reach of [false, true]) {
        if (reach) await reached(cache, veiledAt);
        for (const [expect, value] of [
          [0, bytes('2')],
          [first, bytes('2')],
          [first, null],
          ...(reach ? ([[veiledAt, null]] as const) : []),
        ] as const) {
          const outcome = await cache.commit({ key: lease('a'), expect, value });
          assert.ok(!outcome.ok && outcome.code === 'conflict', JSON.stringify(outcome));
          assert.deepEqual(outcome.now, cache.lookup(lease('a')));
          assert.equal(textOf(outcome.now), 'unreadable');
        }
      }
    });

    test('changes from its last readable state when it can be read again', async () => {
      await using opened = await openShared(open);
      const { other, cache, changes } = opened;
      const first = await put(cache, lease('a'), '1');
      const sink = watched(cache, first);
      const veiledAt = await put(other, lease('a'), '?', first);
      const again = await put(other, lease('a'), '??', veiledAt);
      const last = await put(other, lease('a'), '2', again);
      await sink.has(1);
      assert.deepEqual(sink.events, [`MODIFIED ${lease('a')} 2@${last}`]);
      assert.deepEqual(changes.slice(1), [`${last} ${lease('a')} 1@${first}/${first} > 2@${last}/${first}`]);
      assert.deepEqual(cache.lookup(lease('a')), cache.get(lease('a')));
      assert.deepEqual(cache.unreadable(''), []);
      await put(cache, lease('a'), '3', last);
    });

    test('is deleted for those who knew it when its key is deleted', async () => {
      await using opened = await openShared(open);
      const { other, cache, changes } = opened;
      const first = await put(cache, lease('a'), '1');
      const sink = watched(cache, first);
      const deleted = await remove(other, lease('a'), await put(other, lease('a'), '?', first));
      await sink.has(1);
      assert.deepEqual(sink.events, [`DELETED ${lease('a')} 1@${deleted}`]);
      assert.deepEqual(changes.slice(1), [`${deleted} ${lease('a')} 1@${first}/${first} > -`]);
      assert.equal(cache.lookup(lease('a')), undefined);
      await put(cache, lease('a'), 'new');
    });

    test('is logged once, and when it can be read again', async () => {
      await using opened = await openShared(open);
      const { other, cache, lines } = opened;
      let at = await put(cache, lease('a'), '1');
      for (const text of ['?1', '?2', '?3']) at = await put(other, lease('a'), text, at);
      at = await put(other, lease('a'), '2', at);
      await reached(cache, at);
      const logged = lines().filter((line) => line.includes(lease('a')));
      assert.equal(logged.length, 2, logged.join('\n'));
      assert.match(logged[0] ?? '', /it is veiled.*cannot be read/);
      assert.match(logged[1] ?? '', /can be read again/);
    });
  });

  describe('an object that cannot be read from the start', () => {
    test('is no absence; nobody hears of it before it can be read, or when it goes before', async () => {
      await using opened = await openShared(open, async (other) => {
        await put(other, lease('a'), '?');
        await put(other, lease('b'), '?');
      });
      const { other, cache, changes } = opened;
      const [a, b] = cache.unreadable(leases);
      assert.ok(a !== undefined && b !== undefined);
      assert.deepEqual([a.key, b.key], [lease('a'), lease('b')]);
      assert.equal(cache.get(lease('a')), undefined);
      assert.deepEqual(cache.lookup(lease('a')), a);
      const page = cache.list(leases, '', 1);
      assert.deepEqual([page.items, page.unreadable], [[], [a, b]]);
      const sink = watched(cache, cache.applied);
      await remove(other, lease('b'), b.revision);
      const last = await put(other, lease('a'), '1', a.revision);
      await sink.has(1);
      assert.deepEqual(sink.events, [`ADDED ${lease('a')} 1@${last}`]);
      assert.equal(changes.length, 1);
      assert.equal(cache.lookup(lease('b')), undefined);
    });

    test('thousands of them cost a bounded number of lines in the log', async () => {
      await using opened = await openShared(open, async (other) => {
        const names = Array.from({ length: 1_000 }, (_, n) => lease(`n${n}`));
        await Promise.all(names.map((name) => put(other, name, '?')));
      });
      const { cache, lines } = opened;
      assert.equal(cache.unreadable('').length, 1_000);
      assert.equal(lines().filter((line) => line.includes('cannot be read')).length, 101);
    });
  });

  describe('a watch that continues from the past', () => {
    test('gets what a live watch got, also of an object that was unreadable meanwhile', async () => {
      await using opened = await openShared(open);
      const { other, cache } = opened;
      const first = await put(cache, lease('a'), '1');
      const live = watched(cache, first);
      const veiledAt = await put(other, lease('a'), '?', first);
      const again = await put(other, lease('a'), '2', veiledAt);
      await remove(other, lease('a'), await put(other, lease('a'), '?', again));
      await live.has(2);
      await using second = await createCache(new VeiledStore(other, false));
      const late = watched(second, first);
      await late.has(2);
      assert.deepEqual(late.events, live.events);
    });

    test('expires when what it knew of an unreadable object cannot be found out', async () => {
      await using opened = await openShared(open);
      const { other, cache } = opened;
      const first = await put(cache, lease('a'), '1');
      const veiledAt = await put(other, lease('a'), '?', first);
      await remove(other, lease('a'), veiledAt);
      await using second = await createCache(new VeiledStore(other, false));
      const late = watched(second, veiledAt);
      await late.hasEnded();
      assert.deepEqual(late.events, [], 'no DELETED is invented, and none is left out silently');
      assert.equal(late.ended, 'end expired');
    });
  });

  test('a cache that reads everything again keeps what it knew of unreadable objects', async () => {
    await using opened = await openShared(open);
    const { other, cache, changes } = opened;
    const stays = await put(cache, lease('stays'), '1');
    const goes = await put(cache, lease('goes'), '1');
    const back = await put(cache, lease('back'), '1');
    const reborn = await put(cache, lease('reborn'), '1');
    await using again = await createCache(new ForgetfulStore(other, false));
    const followed: string[] = [];
    again.follow('', (change) => followed.push(shown(change)));
    await put(other, lease('stays'), '?', stays);
    const backVeiled = await put(other, lease('back'), '?', back);
    await put(other, lease('reborn'), '?', await ofDeleted(other, lease('reborn'), reborn));
    await eventually('it is followed', () => cache.applied >= backVeiled);
    const last = await remove(other, lease('goes'), goes);
    await reached(again, last);
    assert.equal(textOf(again.get(lease('stays'))), '1');
    assert.equal(textOf(again.lookup(lease('stays'))), 'unreadable');
    assert.equal(again.get(lease('reborn')), undefined, 'it is another object');
    assert.equal(textOf(again.lookup(lease('reborn'))), 'unreadable');
    const keys = followed.map((line) => line.split(' ')[1]);
    assert.ok(!keys.includes(lease('stays')) && !keys.includes(lease('back')), followed.join('\n'));
    assert.ok(keys.includes(lease('goes')) && keys.includes(lease('reborn')), followed.join('\n'));
    assert.ok(changes.length >= 4);
  });
}

/** Deletes; what is written next is expected to be absent. */
async function ofDeleted(store: Store, key: string, expect: number): Promise<number> {
  await remove(store, key, expect);
  return 0;
}

/** A store whose history is gone whenever it is asked for: everything must be read again. */
class ForgetfulStore extends VeiledStore {
  override async *changes(
    ...[prefix, after, signal]: Parameters<VeiledStore['changes']>
  ): ReturnType<VeiledStore['changes']> {
    for await (const batch of super.changes(prefix, after, signal)) {
      if (batch !== 'compacted' && 'progress' in batch) yield batch;
      else {
        yield 'compacted';
        return;
      }
    }
  }
}
