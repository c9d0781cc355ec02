import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeNextDue } from '../../../../../src/agent/node/lease/schedule.ts';
import { formatMicroTime } from '../../../../../src/api/index.ts';

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const interval = fc.integer({ min: 100, max: 100_000 });

test('in good times each interval is within four per cent of the nominal one', () => {
  fc.assert(
    fc.property(
      interval,
      fraction,
      fc.double({ min: 0, max: 0.95, noNaN: true }),
      (intervalMs, random, took) => {
        const dueMs = 1_000_000;
        const gapMs = computeNextDue(dueMs, dueMs + took * intervalMs, intervalMs, () => random) - dueMs;
        assert.ok(gapMs >= intervalMs * 0.96 - 1e-6 && gapMs <= intervalMs * 1.04 + 1e-6, `${gapMs}`);
      },
    ),
  );
});

test('however late it is, the next one is due in the future, within two intervals', () => {
  fc.assert(
    fc.property(
      interval,
      fraction,
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      (intervalMs, random, lateMs) => {
        const nowMs = 5000 + lateMs;
        const next = computeNextDue(5000, nowMs, intervalMs, () => random);
        assert.ok(next > nowMs && next < nowMs + 2 * intervalMs, `${next - nowMs}`);
      },
    ),
  );
});

test('many intervals in a row add up to the nominal time on average', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  let dueMs = 0;
  for (let turn = 0; turn < 10_000; turn += 1) dueMs = computeNextDue(dueMs, dueMs + 500, 10_000, random);
  assert.ok(Math.abs(dueMs / 1e8 - 1) < 0.002, `${dueMs}`);
});

test('a renewTime has microseconds', () => {
  assert.equal(formatMicroTime(Date.parse('2025-11-21T10:03:00.123Z')), '2025-11-21T10:03:00.123000Z');
});
