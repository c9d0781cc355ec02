import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Observation } from '../../../../src/agent/lock/judge.ts';
import { isSameHolder, judge } from '../../../../src/agent/lock/judge.ts';

const limits = { staleMs: 8_000, settleMs: 2_400 };
const record = {
  id: 'a',
  pid: 1,
  startTicks: '1',
  bootId: 'b',
  namespace: 'n',
  since: '2026-01-01T00:00:00Z',
  yields: false,
};

function sight(changes: Partial<Observation> = {}): Observation {
  return {
    record,
    verdict: 'alive',
    folder: { inode: 1n, mtimeMs: 1_000_000 },
    nowMs: 1_000_500,
    monotonicMs: 0,
    ...changes,
  };
}

describe('judging a lock', () => {
  test('nothing there is free', () => {
    const nothing = sight({ record: undefined, verdict: undefined, folder: undefined });
    assert.equal(judge(nothing, nothing, limits), 'free');
  });

  test('a living holder with a fresh folder holds it, seen at the first look', () => {
    assert.equal(judge(sight(), sight(), limits), 'held');
  });

  test('a holder that is gone is dead however fresh the folder', () => {
    const gone = sight({ verdict: 'gone' });
    assert.equal(judge(gone, gone, limits), 'dead');
    const noFolder = sight({ verdict: 'gone', folder: undefined });
    assert.equal(judge(noFolder, noFolder, limits), 'dead');
  });

  test('a living process whose folder was removed still holds it', () => {
    const noFolder = sight({ folder: undefined });
    assert.equal(judge(noFolder, noFolder, limits), 'held');
  });

  test('a record from elsewhere without a folder is free', () => {
    const elsewhere = sight({ verdict: 'unknown', folder: undefined });
    assert.equal(judge(elsewhere, elsewhere, limits), 'free');
  });

  test('a folder that moves is held, whoever moves it', () => {
    const first = sight({ verdict: 'unknown' });
    const moved = sight({
      verdict: 'unknown',
      folder: { inode: 1n, mtimeMs: 1_002_000 },
      monotonicMs: 2_000,
    });
    assert.equal(judge(first, first, limits), 'unclear');
    assert.equal(judge(first, moved, limits), 'held');
  });

  test('a fresh folder of an unknown holder must stand still for the whole time', () => {
    const first = sight({ verdict: 'unknown', nowMs: 1_000_000 });
    assert.equal(judge(first, { ...first, monotonicMs: 7_900, nowMs: 1_007_900 }, limits), 'unclear');
    assert.equal(judge(first, { ...first, monotonicMs: 8_001, nowMs: 1_008_001 }, limits), 'dead');
  });

  test('a holder that hangs loses an old folder only after it stood still before our eyes', () => {
    const first = sight({ nowMs: 1_009_000 });
    assert.equal(judge(first, first, limits), 'unclear');
    assert.equal(judge(first, { ...first, monotonicMs: 2_399 }, limits), 'unclear');
    assert.equal(judge(first, { ...first, monotonicMs: 2_400 }, limits), 'dead');
  });

  test('no step of the wall clock takes a lock from a holder that keeps it fresh', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.integer({ min: 0, max: 20_000 }),
        (stepMs, laterMs) => {
          const first = sight({ nowMs: 1_000_000 + stepMs });
          const beats = Math.floor(laterMs / 1_600);
          const later = sight({
            nowMs: 1_000_000 + stepMs + laterMs,
            monotonicMs: laterMs,
            folder: { inode: 1n, mtimeMs: 1_000_000 + beats * 1_600 },
          });
          assert.notEqual(judge(first, later, limits), 'dead');
          assert.notEqual(judge(first, later, limits), 'free');
        },
      ),
    );
  });

  test('another record or a folder that came or went begins a new count', () => {
    assert.ok(isSameHolder(sight(), sight({ monotonicMs: 5 })));
    assert.ok(!isSameHolder(sight(), sight({ record: { ...record, id: 'b' } })));
    assert.ok(!isSameHolder(sight(), sight({ folder: undefined })));
  });
});
