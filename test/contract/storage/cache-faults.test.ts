import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { CachedStore } from '../../../src/apiserver/storage/index.ts';
import { createCache, openStore, StorageError } from '../../../src/apiserver/storage/index.ts';
import type { Clock } from '../../../src/base/index.ts';
import { systemClock } from '../../../src/base/index.ts';
import { FaultyStore } from './faulty-store.ts';
import { everything, RecordingSink, TextEncoding } from './recording-sink.ts';
import { bytes, eventually, lease, listing, put, textOf } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

describe('a cache whose store cannot be read for a while', () => {
  test('tries again, and answers writers when it has caught up', { timeout: 10_000 }, async () => {
    const pauses = new Pauses();
    await using opened = await open(pauses.clock);
    const { cache, store } = opened;
    const sink = watchAll(cache);
    await put(cache, lease('a'), '1');
    await sink.has(1);
    store.failures.changes = 2;
    store.interrupt();
    let answered = false;
    const written = put(cache, lease('b'), '1').finally(() => (answered = true));
    await pauses.began(1);
    assert.equal(answered, false, 'what is not applied is not answered');
    pauses.end();
    await pauses.began(2);
    pauses.end();
    await pauses.began(3);
    assert.deepEqual(pauses.waits, [100, 200, 400]);
    assert.equal(answered, false);
    pauses.end();
    const revision = await written;
    assert.ok(cache.applied >= revision);
    assert.equal(textOf(cache.get(lease('b'))), '1');
    await sink.has(2);
    assert.equal(sink.ended, undefined, 'its watches go on');
    store.interrupt();
    await pauses.began(4);
    assert.equal(pauses.waits.at(-1), 100, 'after a success the pauses start anew');
    pauses.end();
    await put(cache, lease('c'), '1');
    await sink.has(3);
    assert.equal(cache.failed.aborted, false);
  });

  test('tries again when it cannot be read anew either', { timeout: 10_000 }, async () => {
    const pauses = new Pauses();
    await using opened = await open(pauses.clock);
    const { cache, store } = opened;
    const told: string[] = [];
    cache.follow('', (change) => void told.push(change.key));
    store.interrupt();
    await pauses.began(1);
    const written = put(cache, lease('a'), '1');
    store.failures.lists = 1;
    store.compactedOnce = true;
    pauses.end();
    await pauses.began(2);
    assert.deepEqual(told, []);
    store.compactedOnce = true;
    pauses.end();
    await written;
    await put(cache, lease('b'), '1');
    assert.deepEqual(told, [lease('a'), lease('b')]);
  });

  test('closes at once while it waits for its next try', { timeout: 10_000 }, async () => {
    const pauses = new Pauses();
    await using opened = await open(pauses.clock);
    const { cache, store } = opened;
    store.failures.changes = Number.POSITIVE_INFINITY;
    store.interrupt();
    await pauses.began(1);
    const written = cache.commit({ key: lease('a'), expect: 0, value: bytes('1') });
    await cache.close();
    assert.ok((await written).ok, 'it is written');
    assert.equal(cache.failed.aborted, false, 'closing is no failure');
  });
});

describe('a cache whose store is gone', () => {
  test('has failed, writes nothing and ends its watches', { timeout: 10_000 }, async () => {
    await using opened = await open();
    const { cache, store } = opened;
    const first = await put(cache, lease('a'), '1');
    const [live, late] = [watchAll(cache), new RecordingSink()];
    const waiting = cache.waitFor(first + 100, new AbortController().signal);
    const error = new Error('of the test');
    store.die(error);
    assert.ok(cache.failed.aborted);
    assert.equal(cache.failed.reason, error);
    assert.equal(await waiting, 'timeout');
    await live.hasEnded();
    cache.watch('', { at: 'state', minRevision: 0, bookmark: false }, everything, new TextEncoding(), late);
    await late.hasEnded();
    assert.deepEqual([live.ended, late.ended], ['end failed', 'end failed']);
    const outcome = await cache.commit({ key: lease('b'), expect: 0, value: bytes('1') });
    assert.ok(!outcome.ok && outcome.code === 'unavailable');
    assert.equal(outcome.cause, error);
    assert.equal(textOf(cache.get(lease('a'))), '1', 'what was known can be read');
  });

  test('fails with the writer thread of sqlite', { timeout: 20_000 }, async () => {
    await using folder = await SqliteFolder.make();
    const started = once(process, 'worker');
    const cache = await createCache(await folder.open());
    const [thread]: unknown[] = await started;
    assert.ok(thread instanceof Worker);
    const revision = await put(cache, lease('a'), '1');
    const sink = watchAll(cache);
    const pending = cache.commit({ key: lease('b'), expect: 0, value: bytes('1') });
    await thread.terminate();
    await eventually('it has failed', () => cache.failed.aborted);
    const { reason }: { reason: unknown } = cache.failed;
    assert.ok(reason instanceof StorageError && reason.code === 'unavailable');
    assert.match(reason.message, /writer thread is gone/);
    await sink.hasEnded();
    assert.equal(sink.ended, 'end failed');
    await pending;
    const late = await cache.commit({ key: lease('a'), expect: revision, value: null });
    assert.ok(!late.ok && late.code === 'unavailable');
    await cache.close();
  });
});

describe('a list in chunks', () => {
  test('goes on from memory while there are writes, as long as history is there', async () => {
    await using opened = await open();
    const { cache, store } = opened;
    for (const name of ['a', 'b', 'c']) await put(cache, lease(name), 'old');
    const first = cache.list(lease(''), '', 1);
    await put(cache, lease('b'), 'new', cache.get(lease('b'))?.revision);
    store.failures.lists = Number.POSITIVE_INFINITY;
    const rest = listing(await cache.listAt(lease(''), first.revision, lease('a'), 5));
    assert.deepEqual(rest.items.map(textOf), ['old', 'old']);
    assert.deepEqual([rest.revision, rest.remaining], [first.revision, 0]);
    store.failures.lists = 0;
    await cache.compact(cache.applied);
    assert.equal(await cache.listAt(lease(''), first.revision, lease('a'), 5), 'compacted');
  });

  test('ends where the cache had to be read anew', { timeout: 10_000 }, async () => {
    const pauses = new Pauses();
    await using opened = await open(pauses.clock);
    const { cache, store } = opened;
    for (const name of ['a', 'b']) await put(cache, lease(name), '1');
    const { revision } = cache.list(lease(''), '', 1);
    await put(cache, lease('c'), '1');
    store.interrupt();
    await pauses.began(1);
    store.compactedOnce = true;
    pauses.end();
    await put(cache, lease('d'), '1');
    store.failures.lists = 1;
    await assert.rejects(cache.listAt(lease(''), revision, lease('a'), 5), /a list of the test fails/);
  });
});

async function open(
  clock: Clock = systemClock,
): Promise<AsyncDisposable & { readonly cache: CachedStore; readonly store: FaultyStore }> {
  await using opening = new AsyncDisposableStack();
  const store = opening.use(new FaultyStore(await openStore({ kind: 'memory' })));
  const cache = opening.use(await createCache(store, { clock }));
  const opened = opening.move();
  return { cache, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function watchAll(cache: CachedStore): RecordingSink {
  const sink = new RecordingSink();
  cache.watch('', { at: 'exact', revision: cache.applied }, everything, new TextEncoding(), sink);
  return sink;
}

/** A clock whose pauses last until the test ends them. */
class Pauses {
  readonly waits: number[] = [];
  #last = Promise.withResolvers<void>();
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      this.waits.push(ms);
      this.#last = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => this.#last.resolve(), { once: true });
      await this.#last.promise;
    },
  };

  async began(count: number): Promise<void> {
    await eventually(`pause ${count} began`, () => this.waits.length >= count);
    await turn();
  }

  end(): void {
    this.#last.resolve();
  }
}
