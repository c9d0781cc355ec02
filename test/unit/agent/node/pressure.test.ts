import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Measurements } from '../../../../src/agent/node/measure.ts';
import { createPressureWatch } from '../../../../src/agent/node/pressure.ts';
import { toShare } from '../../../../src/agent/node/thresholds.ts';
import { defaultEviction, healthy } from './samples.ts';

const withMemory = (availableBytes: number): Measurements => ({
  ...healthy,
  memory: { capacityBytes: 1000, availableBytes },
});
const space = { capacityBytes: 1000, availableBytes: 500, inodes: 100, inodesFree: 50 };
const memory = (amount: number) => ({ 'memory.available': { amount } });
const minute = 60_000;

describe('a pressure', () => {
  const eviction = { ...defaultEviction, hard: memory(100), transitionMs: 5 * minute };

  test('stays for its transition period after its last sign, and is then over', () => {
    const look = createPressureWatch();
    const seen = (availableBytes: number, nowMs: number) =>
      look(withMemory(availableBytes), eviction, nowMs).memory;
    assert.equal(seen(100, 0), false);
    assert.equal(seen(99, 1 * minute), true);
    assert.equal(seen(500, 2 * minute), true);
    assert.equal(seen(99, 4 * minute), true, 'a new sign begins the period anew');
    assert.equal(seen(500, 9 * minute - 1), true);
    assert.equal(seen(500, 9 * minute), false);
  });

  test('without a period ends with its cause', () => {
    const look = createPressureWatch();
    const none = { ...eviction, transitionMs: 0 };
    assert.equal(look(withMemory(99), none, 0).memory, true);
    assert.equal(look(withMemory(100), none, 0.5).memory, false);
  });

  test('never flaps faster than its period, however the figures move', () => {
    const step = fc.record({
      available: fc.integer({ min: 0, max: 200 }),
      ms: fc.integer({ min: 1, max: 2 * minute }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const look = createPressureWatch();
        let nowMs = 0;
        let lastSign = Number.NEGATIVE_INFINITY;
        for (const { available, ms } of steps) {
          nowMs += ms;
          if (available < 100) lastSign = nowMs;
          const expected = nowMs - lastSign < eviction.transitionMs;
          assert.equal(look(withMemory(available), eviction, nowMs).memory, expected);
        }
      }),
    );
  });
});

describe('a soft threshold', () => {
  const eviction = {
    ...defaultEviction,
    hard: {},
    soft: memory(100),
    softGraceMs: { 'memory.available': 90_000 },
    transitionMs: 1,
  };

  test('counts once it has been met for its grace without a break', () => {
    const look = createPressureWatch();
    const seen = (availableBytes: number, nowMs: number) =>
      look(withMemory(availableBytes), eviction, nowMs).memory;
    assert.equal(seen(50, 0), false);
    assert.equal(seen(50, 80_000), false);
    assert.equal(seen(100, 85_000), false);
    assert.equal(seen(50, 90_000), false, 'the break began it anew');
    assert.equal(seen(50, 180_000), true);
    assert.equal(seen(100, 190_000), false);
  });

  test('that is configured no more is forgotten', () => {
    const look = createPressureWatch();
    look(withMemory(50), eviction, 0);
    look(withMemory(50), { ...eviction, soft: {} }, 100_000);
    assert.equal(look(withMemory(50), eviction, 200_000).memory, false);
  });
});

test('what must be reclaimed keeps a threshold met until it is free besides', () => {
  const look = createPressureWatch();
  const eviction = { ...defaultEviction, hard: memory(100), reclaim: memory(50), transitionMs: 1 };
  const seen = (availableBytes: number, nowMs: number) =>
    look(withMemory(availableBytes), eviction, nowMs).memory;
  assert.equal(seen(120, 0), false, 'above the threshold that was never met');
  assert.equal(seen(99, 10), true);
  assert.equal(seen(149, 20), true);
  assert.equal(seen(150, 30), false);
  assert.equal(seen(120, 40), false);
});

describe('the disk', () => {
  const under = (change: Partial<Measurements>) =>
    createPressureWatch()({ ...healthy, disk: space, ...change }, defaultEviction, 0).disk;

  test('is short where the images’ or the containers’ file system is', () => {
    assert.equal(under({ imageDisk: space }), false);
    assert.equal(under({ imageDisk: { ...space, availableBytes: 149 } }), true);
    assert.equal(under({ imageDisk: { ...space, inodesFree: 4 } }), true);
    const hard = { 'containerfs.available': toShare(20) };
    const full = { ...healthy, disk: space, containerDisk: { ...space, availableBytes: 199 } };
    assert.equal(createPressureWatch()(full, { ...defaultEviction, hard }, 0).disk, true);
  });

  test('is not known while the node’s own file system is not', () => {
    assert.equal(under({ disk: undefined, imageDisk: space }), undefined);
    assert.equal(under({ disk: undefined, imageDisk: { ...space, availableBytes: 0 } }), true);
  });
});
