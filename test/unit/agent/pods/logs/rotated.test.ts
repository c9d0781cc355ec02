import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measurePace, waitByPace } from '../../../../../src/agent/pods/logs/log-pace.ts';
import { listRotated, nextRotatedName, planTidying } from '../../../../../src/agent/pods/logs/rotated.ts';

const at = Date.UTC(2026, 10, 22, 13, 49, 50, 55);

describe('names of rotated logs', () => {
  test('carry the time', () => {
    assert.equal(nextRotatedName(['0.log'], '0.log', at), '0.log.20261122-134950');
    assert.equal(nextRotatedName(['10.log.20301122-134950'], '0.log', at), '0.log.20261122-134950');
  });

  test('go up within a second, and when the clock is set back', () => {
    const names = ['0.log'];
    for (const nowMs of [at, at, at - 3_600_000, at + 1000, at])
      names.push(nextRotatedName(names, '0.log', nowMs));
    assert.equal(new Set(names).size, 6);
    assert.deepEqual(
      listRotated(names, '0.log').map(({ name }) => name),
      names.slice(1),
    );
  });

  test('sort by time in programs that sort by name, whatever is compressed', () => {
    const names = ['0.log.20261122-134950', '0.log.20261122-134950_000001', '0.log.20261122-134951'];
    const mixed = names.map((name, index) => (index % 2 === 0 ? `${name}.gz` : name));
    assert.deepEqual(mixed.toSorted(), mixed);
    assert.deepEqual(
      listRotated(mixed.toReversed(), '0.log').map(({ name }) => name),
      names,
    );
  });

  test('of other files are not touched', () => {
    const others = [
      '0.log.old',
      '0.log.20261122',
      '1.log.20261122-134950',
      '0.log.20261122-134950.bz2',
      '0.logs',
    ];
    assert.deepEqual(listRotated(others, '0.log'), []);
    assert.deepEqual(planTidying(others, '0.log', 2), { compress: [], remove: [] });
  });
});

describe('what is tidied', () => {
  const names = ['0.log', ...[1, 2, 3, 4].map((second) => `0.log.20261122-13495${second}`)];

  test('all but the newest are compressed', () => {
    assert.deepEqual(planTidying(names, '0.log', 5), { compress: names.slice(1, 4), remove: [] });
  });

  test('the oldest are dropped beyond the number, the current one counted', () => {
    assert.deepEqual(planTidying(names, '0.log', 3), {
      compress: ['0.log.20261122-134953'],
      remove: ['0.log.20261122-134951', '0.log.20261122-134952'],
    });
  });

  test('what was left half done is finished', () => {
    const left = [...names.slice(0, 3), '0.log.20261122-134951.gz', '0.log.20261122-134951.tmp'];
    assert.deepEqual(planTidying(left, '0.log', 5), {
      compress: ['0.log.20261122-134951'],
      remove: ['0.log.20261122-134951.gz', '0.log.20261122-134951.tmp'],
    });
  });

  test('dropped is each form of a log', () => {
    const left = ['0.log.20261122-134951', '0.log.20261122-134951.gz', '0.log.20261122-134952'];
    assert.deepEqual(planTidying(left, '0.log', 2).remove, left.slice(0, 2));
  });
});

describe('the pace of a log', () => {
  const limits = { maxBytes: 10_000_000, intervalMs: 10_000 };

  test('an idle one is looked at in the interval', () => {
    const idle = measurePace(measurePace(undefined, 500, 0), 500, 10_000);
    assert.equal(waitByPace(idle, limits), 10_000);
  });

  test('a fast one before it can have reached its limit', () => {
    const fast = measurePace(measurePace(undefined, 0, 0), 4_000_000, 1000);
    assert.equal(waitByPace(fast, limits), 1050);
    const nearly = measurePace(fast, 9_900_000, 2500);
    assert.equal(waitByPace(nearly, limits), 200);
  });

  test('one that was rotated by others starts again', () => {
    const before = measurePace(measurePace(undefined, 0, 0), 9_000_000, 9000);
    assert.equal(measurePace(before, 100, 10_000).bytesPerMs, 500);
  });
});
