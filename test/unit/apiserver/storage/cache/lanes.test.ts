import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Lane, LaneReader } from '../../../../../src/apiserver/storage/cache/lane.ts';
import { Lanes } from '../../../../../src/apiserver/storage/cache/lanes.ts';
import type { EventEncoding } from '../../../../../src/apiserver/storage/cache/types.ts';
import { sizeOfChange } from '../../../../../src/apiserver/storage/change-size.ts';
import type { Change, Stored } from '../../../../../src/apiserver/storage/types.ts';

const each = { count: 50, bytes: 60_000 };
const totalBytes = 100_000;

const prefix = (bucket: number) => `/registry/kind${bucket}/`;

/** Revision `revision`: a key of this bucket goes from one value to another, both of `bytes` bytes. */
function change(revision: number, bucket: number, bytes: number): Change {
  const key = `${prefix(bucket)}a`;
  const state = (at: number): Stored => {
    return { key, revision: at, createRevision: 1, value: new Uint8Array(bytes) };
  };
  return { key, revision, previous: state(revision - 1), next: state(revision) };
}

/** Takes every event at once and has it encoded. */
function greedyReader(lane: Lane, encoding: EventEncoding, taken: number[]): LaneReader {
  let position = lane.floor;
  return {
    pull() {
      assert.ok(position >= lane.floor, 'an event was dropped before it could be taken');
      for (const event of lane.after(position, 1_000)) {
        event.frame('MODIFIED', encoding);
        taken.push(event.revision);
        position = event.revision;
      }
    },
  };
}

const copying: EventEncoding = {
  event: (_type, { value }) => new Uint8Array(value),
  bookmark: () => new Uint8Array(0),
};

describe('the recent events of all kinds', () => {
  test('hold no more bytes than they may, together and each, however many kinds there are', () => {
    const writes = fc.array(fc.record({ bucket: fc.nat(20), bytes: fc.nat(4_000) }), { maxLength: 400 });
    fc.assert(
      fc.property(writes, (all) => {
        using lanes = new Lanes({ each, totalBytes });
        const made = all.map(({ bucket, bytes }, index) => change(index + 2, bucket, bytes));
        for (const one of made) {
          lanes.append(one, one.revision - 1);
          assert.ok(lanes.bytes <= totalBytes, `${lanes.bytes} bytes`);
        }
        let held = 0;
        for (let bucket = 0; bucket <= 20; bucket++) {
          const lane = lanes.laneOf(prefix(bucket), made.length + 1);
          assert.ok(lane.bytes <= each.bytes);
          const kept = made.filter(
            ({ key, revision }) => key.startsWith(prefix(bucket)) && revision > lane.floor,
          );
          assert.deepEqual(
            lane.after(lane.floor, 1_000).map(({ revision }) => revision),
            kept.map(({ revision }) => revision),
            'what is behind the floor is all there',
          );
          held += kept.reduce((sum, one) => sum + sizeOfChange(one), 0);
        }
        assert.equal(lanes.bytes, held, 'what was dropped does not count any more');
      }),
    );
  });

  test('of a busy kind make room before those of a quiet one', () => {
    using lanes = new Lanes({ each: { count: 1_000_000, bytes: 1_000_000 }, totalBytes });
    lanes.append(change(2, 1, 500), 1);
    for (let revision = 3; revision < 1_000; revision++) lanes.append(change(revision, 2, 500), revision - 1);
    assert.equal(lanes.laneOf(prefix(1), 0).floor, 1, 'nothing of the quiet kind was dropped');
    assert.ok(lanes.laneOf(prefix(2), 0).floor > 900);
  });

  test('reach every watcher before they make room', () => {
    using lanes = new Lanes({ each: { count: 1_000, bytes: 1_000_000 }, totalBytes: 20_000 });
    const taken: number[] = [];
    const lane = lanes.laneOf(prefix(1), 1);
    lane.add(greedyReader(lane, copying, taken));
    for (let revision = 2; revision < 200; revision++) lanes.append(change(revision, 1, 1_000), revision - 1);
    lane.flush();
    assert.deepEqual(
      taken,
      Array.from({ length: 198 }, (_, n) => n + 2),
    );
  });

  test('count the bytes that are made of them for watchers, and give way for those too', async () => {
    using lanes = new Lanes({ each, totalBytes });
    const lane = lanes.laneOf(prefix(1), 1);
    lane.add(greedyReader(lane, copying, []));
    let revision = 2;
    while (lanes.bytes < each.bytes - 5_000) {
      lanes.append(change(revision, 1, 2_000), revision - 1);
      revision++;
    }
    const before = lanes.bytes;
    await turn();
    await turn();
    assert.equal(lane.after(lane.floor, 1).at(0)?.size, sizeOfChange(change(2, 1, 2_000)) + 2_000);
    assert.ok(lanes.bytes > before - 5_000 && lanes.bytes <= each.bytes, `${lanes.bytes} bytes`);
  });

  test('free everything when they are forgotten', () => {
    using lanes = new Lanes({ each, totalBytes: 1_000_000 });
    const wide = lanes.laneOf('/', 1);
    const reader: LaneReader = { pull: () => undefined };
    wide.add(reader);
    for (let revision = 2; revision < 20; revision++)
      lanes.append(change(revision, revision % 3, 500), revision - 1);
    const both = lanes.bytes;
    wide.remove(reader);
    lanes.tidy();
    assert.equal(lanes.bytes * 2, both, 'the lane with everything had each event once more');
    lanes.clear();
    assert.equal(lanes.bytes, 0);
  });
});
