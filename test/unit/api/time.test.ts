import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMicroTime, formatTime } from '../../../src/api/index.ts';

test('times are written as the API writes them', () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assert.equal(formatTime(ms), '2026-01-02T03:04:05Z');
  assert.equal(formatMicroTime(ms), '2026-01-02T03:04:05.678000Z');
  assert.equal(formatTime(0), '1970-01-01T00:00:00Z');
});
