import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokenBuckets } from '../../../src/base/index.ts';

test('allows a burst for each key, then one more after each interval', () => {
  const buckets = createTokenBuckets({ burst: 2, refillMs: 100, maxKeys: 10 });
  assert.deepEqual([buckets.take('a', 0), buckets.take('a', 0), buckets.take('a', 0)], [true, true, false]);
  assert.equal(buckets.take('b', 0), true);
  assert.deepEqual(
    [buckets.take('a', 99), buckets.take('a', 100), buckets.take('a', 100)],
    [false, true, false],
  );
});

test('forgets the key that was asked about longest ago', () => {
  const buckets = createTokenBuckets({ burst: 1, refillMs: 1000, maxKeys: 2 });
  for (const key of ['a', 'b', 'a', 'c']) buckets.take(key, 0);
  assert.equal(buckets.take('a', 0), false);
  assert.equal(buckets.take('b', 0), true);
});
