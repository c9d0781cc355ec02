import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CachedStore } from '../../../src/apiserver/storage/index.ts';
import type { OpenCache } from './open-cache.ts';
import { everything, RecordingSink, TextEncoding } from './recording-sink.ts';
import { lease, put } from './scenario.ts';

const leases = lease('');

export function watchSlowSuite(open: OpenCache): void {
  describe('a slow watcher', () => {
    test('that makes room again goes on where it was', async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      sink.room = false;
      const watch = cache.watch(
        leases,
        { at: 'exact', revision: cache.applied },
        everything,
        new TextEncoding(),
        sink,
      );
      await put(cache, lease('n0'), 'x');
      await sink.has(1);
      for (let n = 1; n < 20; n++) await put(cache, lease(`n${n}`), 'x');
      watch.bookmark();
      assert.equal(sink.frames.length, 1, 'a full sink is given nothing');
      sink.room = true;
      watch.resume();
      assert.equal(sink.frames.length, 20, 'all that waited comes at once');
      await put(cache, lease('n20'), 'x');
      await sink.has(21);
      assert.deepEqual(
        sink.events.map((event) => event.split(/[ @]/)[1]),
        Array.from({ length: 21 }, (_, n) => lease(`n${n}`)),
      );
    });

    test('is cut off when it falls behind what memory keeps, and harms nobody', {
      timeout: 60_000,
    }, async () => {
      await using opened = await open();
      const { cache } = opened;
      const [slow, quick] = [new RecordingSink(), new RecordingSink()];
      slow.room = false;
      const start = { at: 'exact', revision: cache.applied } as const;
      cache.watch(leases, start, everything, new TextEncoding(), slow);
      cache.watch(leases, start, everything, new TextEncoding(), quick);
      const written = await writeMuch(cache);
      await quick.has(written);
      await slow.hasEnded();
      assert.equal(slow.ended, 'end slow');
      assert.equal(quick.frames.length, written);
      assert.equal(quick.ended, undefined);
    });

    test('is not cut off because of what it does not watch', { timeout: 60_000 }, async () => {
      await using opened = await open();
      const { cache } = opened;
      const sink = new RecordingSink();
      sink.room = false;
      const start = { at: 'exact', revision: cache.applied } as const;
      const watch = cache.watch('/registry/nodes/', start, everything, new TextEncoding(), sink);
      await put(cache, '/registry/nodes/a', 'x');
      await sink.has(1);
      await writeMuch(cache);
      const last = await put(cache, '/registry/nodes/b', 'x');
      sink.room = true;
      watch.resume();
      assert.deepEqual(sink.events.at(-1), `ADDED /registry/nodes/b x@${last}`);
      assert.equal(sink.ended, undefined);
    });

    test('is cut off when it takes nothing for too long', async () => {
      await using opened = await open({ stallMs: 30 });
      const { cache } = opened;
      const sink = new RecordingSink();
      sink.room = false;
      cache.watch(leases, { at: 'exact', revision: cache.applied }, everything, new TextEncoding(), sink);
      await put(cache, lease('a'), 'x');
      await sink.hasEnded();
      assert.deepEqual(sink.calls, ['start', 'push', 'end slow']);
    });

    test('takes its initial objects at its own pace, and misses nothing meanwhile', {
      timeout: 60_000,
    }, async () => {
      await using opened = await open();
      const { cache } = opened;
      for (let n = 0; n < 350; n++) await put(cache, lease(`n${n}`), 'x');
      const sink = new RecordingSink();
      sink.room = false;
      const start = { at: 'state', minRevision: 0, bookmark: true } as const;
      const watch = cache.watch(leases, start, everything, new TextEncoding(), sink);
      await sink.has(100);
      assert.equal(sink.frames.length, 100, 'one piece at a time');
      const written = await writeMuch(cache);
      sink.room = true;
      watch.resume();
      await sink.has(350 + 1 + written);
      assert.match(sink.events[350] ?? '', /^BOOKMARK \d+ end$/);
      assertGrows(sink.events.slice(351));
    });
  });
}

/** More than memory keeps of one bucket. Answers how many writes that were. */
async function writeMuch(cache: CachedStore): Promise<number> {
  const filler = 'x'.repeat(20_000);
  for (let n = 0; n < 10; n++) {
    await Promise.all(Array.from({ length: 50 }, (_, m) => put(cache, lease(`much-${n}-${m}`), filler)));
  }
  return 500;
}

function assertGrows(events: readonly string[]): void {
  const revisions = events.map((event) => Number(event.split('@').at(-1)));
  for (const [index, revision] of revisions.entries()) assert.ok(revision > (revisions[index - 1] ?? 0));
}
