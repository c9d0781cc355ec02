import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Revision, Store, StoreChange } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { allAt, bytes, eventually, lease, put, readChanges, remove, shown } from './scenario.ts';

const prefixes = [
  '',
  '/registry/',
  '/registry/leases/',
  '/registry/leases/a',
  '/registry/nodes/',
  '/registry/none/',
];
const keys = [
  '/registry/leases/a/1',
  '/registry/leases/a/2',
  '/registry/leases/b/1',
  '/registry/nodes/1',
  '/odd',
];

export function changesSuite(open: OpenStore): void {
  describe('changes', () => {
    test('tell creation, update and deletion with the state before and after', async () => {
      await using opened = await open();
      const { store } = opened;
      const start = await store.revision();
      const created = await put(store, lease('a'), '1');
      const updated = await put(store, lease('a'), '2', created);
      const deleted = await remove(store, lease('a'), updated);
      const again = await put(store, lease('a'), '3');
      const { seen } = await readChanges(store, '', start, again);
      assert.deepEqual(seen.map(shown), [
        `${created} ${lease('a')} - > 1@${created}/${created}`,
        `${updated} ${lease('a')} 1@${created}/${created} > 2@${updated}/${created}`,
        `${deleted} ${lease('a')} 2@${updated}/${created} > -`,
        `${again} ${lease('a')} - > 3@${again}/${again}`,
      ]);
    });

    test('follow live, from history and across both alike', { timeout: 120_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), reader, async (steps, how) => {
          await using opened = await open();
          await followedAlike(opened.store, steps, how);
        }),
        { numRuns: 25 },
      );
    });

    test('are told when they can be read, and not before', async () => {
      await using opened = await open();
      const { store } = opened;
      const start = await store.revision();
      const writes = Promise.all(Array.from({ length: 30 }, (_, n) => put(store, lease(`n${n}`), 'x')));
      let told = 0;
      for await (const batch of store.changes('', start, new AbortController().signal)) {
        assert.ok(batch !== 'compacted' && !('progress' in batch));
        const last = batch.at(-1)?.revision ?? 0;
        told += batch.length;
        assert.ok((await store.revision()) >= last);
        assert.equal((await allAt(store, '', last)).length, told, 'what was told so far, and no more');
        if (told === 30) break;
      }
      assert.equal(Math.max(...(await writes)), await store.revision());
    });

    test('say how far a reader is when nothing matches', async () => {
      await using opened = await open();
      const start = await opened.store.revision();
      const last = await put(opened.store, lease('a'), '1');
      const { seen, at } = await readChanges(opened.store, '/registry/nodes/', start, last);
      assert.deepEqual([seen, at], [[], last]);
    });

    test('a reader that starts in the future gets only what is later still', async () => {
      await using opened = await open();
      const { store } = opened;
      const start = await store.revision();
      const reading = readChanges(store, '', start + 2, start + 4);
      for (let n = 0; n < 4; n++) await put(store, lease(`n${n}`), 'x');
      assert.deepEqual(
        (await reading).seen.map((change) => change.key),
        [lease('n2'), lease('n3')],
      );
    });

    test('a slow reader loses nothing and keeps nobody waiting', async () => {
      await using opened = await open();
      const { store } = opened;
      const stop = new AbortController();
      const start = await store.revision();
      const slow = store.changes('', start, stop.signal)[Symbol.asyncIterator]();
      let expect = await put(store, lease('a'), '0');
      await slow.next();
      const filler = 'x'.repeat(100_000);
      for (let n = 0; n < 120; n++) expect = await put(store, lease('a'), filler + n, expect);
      const { seen } = await readChanges(
        { ...store, changes: () => ({ [Symbol.asyncIterator]: () => slow }) } as Store,
        '',
        start + 1,
        expect,
      );
      assert.equal(seen.length, 120);
      stop.abort();
    });

    test('end when their reader stops them, also while they wait', async () => {
      await using opened = await open();
      const stop = new AbortController();
      const start = await opened.store.revision();
      const reading = drain(opened.store, start, stop.signal);
      await put(opened.store, lease('a'), '1');
      stop.abort();
      assert.notEqual(await reading, 'compacted');
      assert.equal(await drain(opened.store, start, AbortSignal.abort()), 'ended');
    });

    test('from before the compacted revision are compacted, from it they go on', async () => {
      await using opened = await open();
      const { store } = opened;
      const first = await put(store, lease('a'), '1');
      const second = await put(store, lease('a'), '2', first);
      const third = await put(store, lease('a'), '3', second);
      await store.compact(second);
      assert.equal((await readChanges(store, '', first, third)).compacted, true);
      assert.equal((await readChanges(store, '/registry/none/', first, third)).compacted, true);
      const { seen } = await readChanges(store, '', second, third);
      assert.deepEqual(
        seen.map((change) => change.revision),
        [third],
      );
    });

    test('end when the store closes, after what was accepted', async () => {
      await using opened = await open();
      const { store } = opened;
      const seen: StoreChange[] = [];
      const reading = collect(store, seen, await store.revision());
      const writes = Array.from({ length: 20 }, (_, n) => put(store, lease(`n${n}`), 'x'));
      await writes[0];
      await store.close();
      await Promise.all(writes);
      await reading;
      assert.equal(seen.length, 20);
    });

    test('reach a waiting reader at once', async () => {
      await using opened = await open();
      const seen: StoreChange[] = [];
      const reading = collect(opened.store, seen, await opened.store.revision());
      await put(opened.store, lease('a'), '1');
      await eventually('the change arrives', () => seen.length === 1);
      await opened.store.close();
      await reading;
    });
  });
}

const step = fc.record({
  key: fc.constantFrom(...keys),
  remove: fc.boolean(),
  atOnce: fc.boolean(),
});

const reader = fc.record({
  prefix: fc.constantFrom(...prefixes),
  /** Where readers leave off and another one takes over. */
  stops: fc.array(fc.nat(60), { maxLength: 4 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Reader = typeof reader extends fc.Arbitrary<infer T> ? T : never;

/** Readers that take over from each other see exactly what was written, and so does one that was there all along. */
async function followedAlike(store: Store, steps: readonly Step[], how: Reader): Promise<void> {
  const start = await store.revision();
  const written: { revision: number; key: string }[] = [];
  const live: StoreChange[] = [];
  const following = collect(store, live, start, how.prefix);
  await writeAll(store, steps, written);
  const end = await store.revision();
  const expected = written
    .filter(({ key }) => key.startsWith(how.prefix))
    .toSorted((a, b) => a.revision - b.revision)
    .map(({ revision, key }) => `${revision} ${key}`);
  const seen: StoreChange[] = [];
  let at = start;
  for (const stop of [...how.stops.map((n) => start + n).toSorted((a, b) => a - b), end]) {
    const part = await readChanges(store, how.prefix, at, Math.min(stop, end));
    seen.push(...part.seen);
    at = Math.max(at, part.at);
  }
  const line = ({ revision, key }: StoreChange) => `${revision} ${key}`;
  assert.deepEqual(seen.map(line), expected);
  assertChained(seen);
  await store.close();
  await following;
  assert.deepEqual(live.map(shown), seen.map(shown));
}

async function writeAll(
  store: Store,
  steps: readonly Step[],
  written: { revision: number; key: string }[],
): Promise<void> {
  const known = new Map<string, number>();
  const running: Promise<void>[] = [];
  for (const { key, remove: removes, atOnce } of steps) {
    if (!atOnce) await Promise.all(running.splice(0));
    const expect = known.get(key) ?? 0;
    const deletes = removes && expect > 0;
    const write = async () => {
      const outcome = await store.commit({
        key,
        expect,
        value: deletes ? null : bytes(`${key} ${written.length}`),
      });
      if (!outcome.ok) return;
      written.push({ revision: outcome.revision, key });
      known.set(key, deletes ? 0 : outcome.revision);
    };
    running.push(write());
  }
  await Promise.all(running);
}

/** What a change says was before is what the change before it on that key left. */
function assertChained(changes: readonly StoreChange[]): void {
  const last = new Map<string, StoreChange['next']>();
  for (const change of changes) {
    const before = last.get(change.key);
    if (before !== undefined) assert.deepEqual(change.previous, before);
    last.set(change.key, change.next);
  }
}

async function collect(store: Store, seen: StoreChange[], start: Revision, prefix = ''): Promise<void> {
  for await (const batch of store.changes(prefix, start, new AbortController().signal)) {
    assert.notEqual(batch, 'compacted');
    if (typeof batch !== 'string' && !('progress' in batch)) seen.push(...batch);
  }
}

async function drain(store: Store, start: Revision, signal: AbortSignal): Promise<'compacted' | 'ended'> {
  for await (const batch of store.changes('', start, signal)) if (batch === 'compacted') return batch;
  return 'ended';
}
