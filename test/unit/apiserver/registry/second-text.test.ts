import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../../src/api/index.ts';
import { SecondText } from '../../../../src/apiserver/registry/metadata.ts';

test('the text of a second is that of its time, whichever way the clock goes', () => {
  const seconds = new SecondText();
  for (const now of [
    1_790_000_000_000, 1_790_000_000_999, 1_790_000_001_000, 0, 999, -1, 1_790_000_000_500,
  ]) {
    assert.equal(seconds.at(now), formatTime(now));
  }
});
