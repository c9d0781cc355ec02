import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecentReader } from '../../../src/base/index.ts';
import { createManualClock } from '../../support/manual-clock.ts';

test('what was read is answered for as long as it may be old, and read again then', async () => {
  const clock = createManualClock();
  let reads = 0;
  const read = createRecentReader(clock, 5000, () => (reads += 1));
  assert.deepEqual([read(), read()], [1, 1]);
  await clock.advance(5000);
  assert.equal(read(), 1);
  await clock.advance(1);
  assert.deepEqual([read(), read()], [2, 2]);
});
