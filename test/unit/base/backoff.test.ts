import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createBackoff } from '../../../src/base/index.ts';

describe('a backoff', () => {
  test('doubles from the first wait up to the longest and stays there', () => {
    const backoff = createBackoff({ initialMs: 200, maxMs: 1000 });
    const waits = [1, 2, 3, 4, 5].map(() => backoff.next());
    assert.deepEqual(waits, [200, 400, 800, 1000, 1000]);
  });

  test('begins anew after a success', () => {
    const backoff = createBackoff({ initialMs: 200, maxMs: 7000 });
    backoff.next();
    backoff.next();
    backoff.reset();
    assert.equal(backoff.next(), 200);
    assert.equal(backoff.next(), 400);
  });

  test('never waits longer than the longest, the first time neither', () => {
    assert.equal(createBackoff({ initialMs: 5000, maxMs: 100 }).next(), 100);
  });

  test('takes jitter off, never puts it on', () => {
    const wait = fc.record({
      initialMs: fc.integer({ min: 1, max: 10_000 }),
      maxMs: fc.integer({ min: 1, max: 100_000 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
      tries: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(wait, ({ initialMs, maxMs, jitter, chance, tries }) => {
        const exact = createBackoff({ initialMs, maxMs });
        const shaken = createBackoff({ initialMs, maxMs, jitter, random: () => chance });
        for (let attempt = 0; attempt < tries; attempt++) {
          const full = exact.next();
          const shorter = shaken.next();
          assert.ok(full <= maxMs);
          assert.ok(shorter <= full && shorter >= full * (1 - jitter) - 1e-9);
        }
      }),
    );
  });
});
