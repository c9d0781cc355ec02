import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stored } from '../../../src/apiserver/storage/index.ts';
import type { OpenCache } from './open-cache.ts';
import { everything, RecordingSink, TextEncoding } from './recording-sink.ts';
import { lease, put, remove, textOf } from './scenario.ts';

const leases = lease('');
const even = (object: Stored) => Number(textOf(object)) % 2 === 0;

export function watchSuite(open: OpenCache): void {
  describe('watch', () => {
    test('from an exact revision sends what changed after it, and nothing else', async () => {
      await using opened = await open();
      const { cache } = opened;
      const first = await put(cache, lease('a'), '1');
      const second = await put(cache, lease('a'), '2', first);
      const sink = new RecordingSink();
      cache.watch(leases, { at: 'exact', revision: first }, everything, new TextEncoding(), sink);
      assert.deepEqual(sink.calls, [], 'nothing before the caller has its watch');
      const deleted = await remove(cache, lease('a'), second);
      await put(cache, '/registry/nodes/a', '1');
      await put(cache, '/registry/leases/other/a', '1');
      const again = await put(cache, lease('a'), '3');
      await sink.has(3);
      assert.deepEqual(sink.events, [
        `MODIFIED ${lease('a')} 2@${second}`,
        `DELETED ${lease('a')} 2@${deleted}`,
        `ADDED ${lease('a')} 3@${again}`,
      ]);
      assert.equal(sink.calls[0], 'start');
    });

    test('from the state sends every object, the bookmark that ends them, then changes', async () => {
      await using opened = await open();
      const { cache } = opened;
      const names = Array.from({ length: 250 }, (_, n) => `n${String(n).padStart(3, '0')}`);
      const revisions = await Promise.all(names.map((name) => put(cache, lease(name), '1')));
      const sink = new RecordingSink();
      cache.watch(
        leases,
        { at: 'state', minRevision: 0, bookmark: true },
        everything,
        new TextEncoding(),
        sink,
      );
      await sink.has(1);
      const late = await put(cache, lease('late'), '1');
      await sink.has(252);
      assert.deepEqual(sink.events, [
        ...names.map((name, n) => `ADDED ${lease(name)} 1@${revisions[n]}`),
        `BOOKMARK ${Math.max(...revisions)} end`,
        `ADDED ${lease('late')} 1@${late}`,
      ]);
    });

    test('from a state that is not reached yet waits for it', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      const minRevision = cache.applied + 2;
      cache.watch(leases, { at: 'state', minRevision, bookmark: true }, everything, new TextEncoding(), sink);
      const first = await put(cache, lease('a'), '1');
      assert.deepEqual(sink.calls, []);
      const second = await put(cache, lease('b'), '1');
      await sink.has(3);
      assert.deepEqual(sink.events, [
        `ADDED ${lease('a')} 1@${first}`,
        `ADDED ${lease('b')} 1@${second}`,
        `BOOKMARK ${second} end`,
      ]);
    });

    test('turns changes into what the selector makes of them', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      const start = { at: 'exact', revision: cache.applied } as const;
      cache.watch(leases, start, even, new TextEncoding(), sink);
      const one = await put(cache, lease('a'), '1');
      const two = await put(cache, lease('a'), '2', one);
      const four = await put(cache, lease('a'), '4', two);
      const five = await put(cache, lease('a'), '5', four);
      const six = await put(cache, lease('a'), '6', five);
      const gone = await remove(cache, lease('a'), six);
      await remove(cache, lease('odd'), await put(cache, lease('odd'), '7'));
      await sink.has(5);
      assert.deepEqual(sink.events, [
        `ADDED ${lease('a')} 2@${two}`,
        `MODIFIED ${lease('a')} 4@${four}`,
        `DELETED ${lease('a')} 4@${five}`,
        `ADDED ${lease('a')} 6@${six}`,
        `DELETED ${lease('a')} 6@${gone}`,
      ]);
    });

    test('encodes an event once for all who share an encoding, and gives all the same bytes', async () => {
      await using opened = await open();
      const { cache } = opened;
      const shared = new TextEncoding();
      const other = new TextEncoding();
      const start = { at: 'exact', revision: cache.applied } as const;
      const sinks = Array.from({ length: 50 }, (_, n) => {
        const sink = new RecordingSink();
        cache.watch(leases, start, everything, n === 0 ? other : shared, sink);
        return sink;
      });
      for (let n = 0; n < 10; n++) await put(cache, lease(`n${n}`), 'x');
      for (const sink of sinks) await sink.has(10);
      assert.deepEqual([shared.encoded, other.encoded], [10, 10]);
      const [, second, ...rest] = sinks;
      for (const sink of rest) {
        sink.frames.forEach((frame, index) => void assert.ok(frame === second?.frames[index]));
      }
    });

    test('bundles what comes at once', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      cache.watch(leases, { at: 'exact', revision: cache.applied }, everything, new TextEncoding(), sink);
      await Promise.all(Array.from({ length: 200 }, (_, n) => put(cache, lease(`n${n}`), 'x')));
      await sink.has(200);
      assert.ok(sink.pushes < 50, `${sink.pushes} pushes`);
    });

    test('from before what memory holds replays history', async () => {
      const revisions: number[] = [];
      await using opened = await open({}, async (store) => {
        for (let n = 0; n < 700; n++)
          revisions.push(await put(store, lease('a'), String(n), revisions.at(-1) ?? 0));
      });
      const { cache } = opened;
      const sink = new RecordingSink();
      const from = revisions[99] ?? 0;
      cache.watch(leases, { at: 'exact', revision: from }, even, new TextEncoding(), sink);
      const last = await put(cache, lease('b'), '0');
      await sink.has(601);
      assert.equal(sink.events[0], `ADDED ${lease('a')} 100@${revisions[100]}`);
      assert.equal(sink.events[1], `DELETED ${lease('a')} 100@${revisions[101]}`);
      assert.equal(sink.events.at(-1), `ADDED ${lease('b')} 0@${last}`);
    });

    test('from before what history holds has expired, and never started', async () => {
      await using opened = await open({}, async (store) => {
        const first = await put(store, lease('a'), '1');
        await store.compact(await put(store, lease('a'), '2', first));
      });
      const sink = new RecordingSink();
      opened.cache.watch(leases, { at: 'exact', revision: 2 }, everything, new TextEncoding(), sink);
      assert.deepEqual(sink.calls, []);
      await sink.hasEnded();
      assert.deepEqual(sink.calls, ['end expired']);
    });

    test('from a revision in the future sends what comes after it only', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      cache.watch(leases, { at: 'exact', revision: cache.applied + 1 }, everything, new TextEncoding(), sink);
      await put(cache, lease('a'), '1');
      const second = await put(cache, lease('b'), '1');
      await sink.has(1);
      assert.deepEqual(sink.events, [`ADDED ${lease('b')} 1@${second}`]);
    });

    test('of everything sees every bucket in order', async () => {
      await using opened = await open();
      const { cache } = opened;
      const start = { at: 'exact', revision: cache.applied } as const;
      const sink = new RecordingSink();
      const watch = cache.watch('', start, everything, new TextEncoding(), sink);
      const keys = ['/registry/a/1', '/odd', '/registry/b/1', '/registry/a/2'];
      for (const key of keys) await put(cache, key, 'x');
      await sink.has(4);
      assert.deepEqual(
        sink.events.map((event) => event.split(' ')[1]),
        keys,
      );
      watch[Symbol.dispose]();
      const second = new RecordingSink();
      cache.watch('/registry/', start, everything, new TextEncoding(), second);
      await second.has(3);
    });

    test('bookmarks tell how far the watch is', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      const watch = cache.watch(
        leases,
        { at: 'exact', revision: cache.applied },
        everything,
        new TextEncoding(),
        sink,
      );
      watch.bookmark();
      const changed = await put(cache, lease('a'), '1');
      await put(cache, '/registry/nodes/a', '1');
      await sink.has(1);
      watch.bookmark();
      assert.deepEqual(sink.events, [`ADDED ${lease('a')} 1@${changed}`, `BOOKMARK ${cache.applied}`]);
    });

    test('of everything goes on when another such watch ends while it waits for its start', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      const next = { at: 'state', minRevision: cache.applied + 1, bookmark: false } as const;
      cache.watch('', next, everything, new TextEncoding(), sink);
      const exact = { at: 'exact', revision: cache.applied } as const;
      cache.watch('', exact, everything, new TextEncoding(), new RecordingSink())[Symbol.dispose]();
      await put(cache, lease('a'), '1');
      await sink.has(1);
      await put(cache, lease('b'), '1');
      await sink.has(2);
      await put(cache, '/registry/nodes/a', '1');
      await sink.has(3);
    });

    test('is over when disposed, without another call', async () => {
      await using opened = await open();
      const { cache } = opened;
      const [kept, gone] = [new RecordingSink(), new RecordingSink()];
      const start = { at: 'exact', revision: cache.applied } as const;
      cache.watch(leases, start, everything, new TextEncoding(), kept);
      const watch = cache.watch(leases, start, everything, new TextEncoding(), gone);
      cache.watch(leases, start, everything, new TextEncoding(), gone)[Symbol.dispose]();
      await put(cache, lease('a'), '1');
      await gone.has(1);
      watch[Symbol.dispose]();
      watch[Symbol.dispose]();
      watch.bookmark();
      watch.resume();
      await put(cache, lease('b'), '1');
      await kept.has(2);
      assert.deepEqual(gone.calls, ['start', 'push']);
    });

    test('all end with stop when the cache closes, and no new one starts', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sinks = Array.from({ length: 3 }, () => new RecordingSink());
      const [live, waiting, late] = sinks;
      assert.ok(live && waiting && late);
      cache.watch(leases, { at: 'exact', revision: cache.applied }, everything, new TextEncoding(), live);
      await put(cache, lease('a'), '1');
      await live.has(1);
      const never = { at: 'state', minRevision: 1_000_000, bookmark: false } as const;
      cache.watch(leases, never, everything, new TextEncoding(), waiting);
      cache.endWatches();
      cache.watch(leases, { at: 'exact', revision: cache.applied }, everything, new TextEncoding(), late);
      await late.hasEnded();
      assert.deepEqual(
        sinks.map((sink) => sink.ended),
        ['end stop', 'end stop', 'end stop'],
      );
      await put(cache, lease('b'), '1');
      await cache.close();
      assert.equal(live.frames.length, 1);
    });

    test('whose encoding, selector or sink throws fails alone', async () => {
      await using opened = await open();
      const { cache } = opened;
      const start = { at: 'exact', revision: cache.applied } as const;
      const fail = () => {
        throw new Error('of the test');
      };
      const [good, badEncoding, badSelector] = [
        new RecordingSink(),
        new RecordingSink(),
        new RecordingSink(),
      ];
      const badSink = Object.assign(new RecordingSink(), { push: fail });
      cache.watch(leases, start, everything, Object.assign(new TextEncoding(), { event: fail }), badEncoding);
      cache.watch(leases, start, fail, new TextEncoding(), badSelector);
      cache.watch(leases, start, everything, new TextEncoding(), badSink);
      cache.watch(leases, start, everything, new TextEncoding(), good);
      await put(cache, lease('a'), '1');
      await good.has(1);
      await put(cache, lease('b'), '1');
      await good.has(2);
      for (const sink of [badEncoding, badSelector, badSink]) assert.equal(sink.ended, 'end failed');
      assert.equal(good.ended, undefined);
    });
  });
}
