import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EventParts } from '../../../../src/apiserver/http/watch/event-parts.ts';
import { WatchSlots } from '../../../../src/apiserver/http/watch/watch-slots.ts';
import { MetricsRegistry } from '../../../../src/base/index.ts';

const frame = (length: number) => Buffer.alloc(length, 'x');

describe('what is written at once', () => {
  test('is made once for all who get the same in the same turn of the event loop', async () => {
    const parts = new EventParts();
    const frames = [frame(10), frame(20)];
    const first = parts.next(frames, 0, true);
    assert.equal(parts.next([...frames], 0, true), first);
    assert.equal(Buffer.concat(first.bytes).toString(), `1e\r\n${'x'.repeat(30)}\r\n`);
    assert.equal(parts.next([frame(5), ...frames], 1, true), first, 'also for one who has more before it');
    assert.notEqual(parts.next(frames, 0, false).bytes, first.bytes, 'without chunks it is something else');
    await turn();
    await turn();
    assert.notEqual(parts.next(frames, 0, true), first, 'and forgotten after it');
  });

  test('is never what somebody else has who gets other frames', () => {
    const parts = new EventParts();
    const [a, b, c] = [frame(1), frame(2), frame(3)];
    parts.next([a, b], 0, false);
    assert.deepEqual(parts.next([a, c], 0, false).frames, [a, c]);
    assert.deepEqual(parts.next([a], 0, false).frames, [a]);
    assert.equal(parts.next([a], 0, false).bytes[0], a, 'a single frame is not copied');
  });

  test('is at most 64 KiB, or a single frame', () => {
    const parts = new EventParts();
    const frames = [frame(40_000), frame(20_000), frame(10_000), frame(200_000), frame(1)];
    const counts: number[] = [];
    for (let at = 0; at < frames.length; ) {
      const part = parts.next(frames, at, false);
      counts.push(part.frames.length);
      at += part.frames.length;
    }
    assert.deepEqual(counts, [2, 1, 1, 1]);
  });

  test('is not copied where it is one long frame, the initial events of a streaming list', () => {
    const long = frame(200_000);
    const { bytes } = new EventParts().next([long], 0, true);
    assert.equal(bytes[1], long);
    assert.equal(Buffer.concat(bytes).toString(), `30d40\r\n${'x'.repeat(200_000)}\r\n`);
  });
});

describe('how many watches are open', () => {
  test('is bounded, and a seat is free again when its response is closed', () => {
    const seats = new WatchSlots(2, new MetricsRegistry());
    const kind = { group: '', version: 'v1', resource: 'nodes' };
    const watched = { kind, groupSuffix: 'k8s.io' };
    const responses = Array.from({ length: 3 }, () =>
      Object.assign(new EventEmitter(), { destroyed: false }),
    );
    const [one, two, three] = responses;
    assert.ok(one && two && three);
    seats.take(one, watched);
    seats.take(two, watched);
    assert.throws(() => seats.take(three, watched), { reason: 'TooManyRequests', code: 429 });
    one.emit('close');
    seats.take(three, watched);
  });
});
