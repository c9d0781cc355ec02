import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PressureWatch } from '../../../../src/agent/eviction/pressure-watch.ts';
import type { Measurements } from '../../../../src/agent/node/measure.ts';
import type { Thresholds } from '../../../../src/agent/node/thresholds.ts';
import { toShare } from '../../../../src/agent/node/thresholds.ts';
import { defaultEviction, healthy } from '../node/samples.ts';

const withMemory = (availableBytes: number): Measurements => ({
  ...healthy,
  memory: { capacityBytes: 1000, availableBytes },
});
const space = { capacityBytes: 1000, availableBytes: 500, inodes: 100, inodesFree: 50, askedMs: 0 };
const memory = (amount: number) => ({ 'memory.available': { amount } });
const minute = 60_000;

describe('a pressure', () => {
  const eviction = { ...defaultEviction, hard: memory(100), transitionMs: 5 * minute };

  test('stays for its transition period after its last sign, and is then over', () => {
    const watch = new PressureWatch();
    const seen = (availableBytes: number, nowMs: number) =>
      watch.look(withMemory(availableBytes), eviction, nowMs).pressures.memory;
    assert.equal(seen(100, 0), false);
    assert.equal(seen(99, 1 * minute), true);
    assert.equal(seen(500, 2 * minute), true);
    assert.equal(seen(99, 4 * minute), true, 'a new sign begins the period anew');
    assert.equal(seen(500, 9 * minute - 1), true);
    assert.equal(seen(500, 9 * minute), false);
  });

  test('without a period ends with its cause', () => {
    const watch = new PressureWatch();
    const none = { ...eviction, transitionMs: 0 };
    assert.equal(watch.look(withMemory(99), none, 0).pressures.memory, true);
    assert.equal(watch.look(withMemory(100), none, 0.5).pressures.memory, false);
  });

  test('that is over does not come back when the period is made longer', () => {
    const watch = new PressureWatch();
    const seen = (availableBytes: number, transitionMs: number, nowMs: number) =>
      watch.look(withMemory(availableBytes), { ...eviction, transitionMs }, nowMs).pressures.memory;
    assert.deepEqual([seen(99, 1000, 0), seen(500, 1000, 2000), seen(500, 9000, 3000)], [true, false, false]);
  });

  test('never flaps faster than its period, however the figures move', () => {
    const step = fc.record({
      available: fc.integer({ min: 0, max: 200 }),
      ms: fc.integer({ min: 1, max: 2 * minute }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const watch = new PressureWatch();
        let nowMs = 0;
        let lastSign = Number.NEGATIVE_INFINITY;
        for (const { available, ms } of steps) {
          nowMs += ms;
          if (available < 100) lastSign = nowMs;
          const expected = nowMs - lastSign < eviction.transitionMs;
          assert.equal(watch.look(withMemory(available), eviction, nowMs).pressures.memory, expected);
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

  test('is a pressure at once, and due once it has been met for its grace without a break', () => {
    const watch = new PressureWatch();
    const seen = (availableBytes: number, nowMs: number) => {
      const { pressures, due } = watch.look(withMemory(availableBytes), eviction, nowMs);
      return [pressures.memory, due.length];
    };
    assert.deepEqual(seen(50, 0), [true, 0]);
    assert.deepEqual(seen(50, 80_000), [true, 0]);
    assert.deepEqual(seen(100, 85_000), [false, 0]);
    assert.deepEqual(seen(50, 90_000), [true, 0], 'the break began it anew');
    assert.deepEqual(seen(50, 179_999), [true, 0]);
    assert.deepEqual(seen(50, 180_000), [true, 1]);
    assert.deepEqual(seen(100, 190_000), [false, 0]);
  });

  test('that is configured no more is forgotten', () => {
    const watch = new PressureWatch();
    watch.look(withMemory(50), eviction, 0);
    watch.look(withMemory(50), { ...eviction, soft: {} }, 100_000);
    assert.deepEqual(watch.look(withMemory(50), eviction, 200_000).due, []);
  });
});

describe('what is due', () => {
  const both = {
    ...defaultEviction,
    hard: { ...memory(100), 'pid.available': { amount: 10 }, 'nodefs.available': toShare(60) },
    soft: { 'memory.available': { amount: 200 }, 'imagefs.available': toShare(70) },
    softGraceMs: { 'memory.available': 1, 'imagefs.available': 1 },
  };
  const short = { ...withMemory(50), disk: space, imageDisk: space, pids: { limit: 100, used: 95 } };

  test('is memory first, then what is hard', () => {
    const watch = new PressureWatch();
    watch.look(short, both, 0);
    const { due } = watch.look(short, both, 10);
    assert.deepEqual(
      due.map(({ signal, isHard }) => `${isHard ? 'hard' : 'soft'} ${signal}`),
      [
        ...['hard memory.available', 'soft memory.available', 'hard nodefs.available'],
        ...['hard pid.available', 'soft imagefs.available'],
      ],
    );
  });

  test('says since when the node is under each pressure without a break', () => {
    const watch = new PressureWatch();
    const none = { ...both, transitionMs: 100 };
    assert.deepEqual(watch.look(short, none, 5).sinceMs, { memory: 5, disk: 5, pid: 5 });
    const later = { ...short, ...withMemory(900), pids: short.pids, disk: space, imageDisk: space };
    assert.deepEqual(watch.look(later, none, 50).sinceMs, { memory: 5, disk: 5, pid: 5 });
    assert.deepEqual(watch.look(later, none, 200).sinceMs, { disk: 5, pid: 5 });
    assert.deepEqual(watch.look(short, none, 300).sinceMs, { memory: 300, disk: 5, pid: 5 });
  });

  test('goes by what all pods together have left, too, with the hard threshold of the memory', () => {
    const look = (availableBytes: number, hard: Thresholds) => {
      const observed = { ...withMemory(500), allPodsMemory: { capacityBytes: 800, availableBytes } };
      return new PressureWatch()
        .look(observed, { ...defaultEviction, hard }, 0)
        .due.map(({ signal }) => signal);
    };
    assert.deepEqual(look(100, memory(100)), []);
    assert.deepEqual(look(99, memory(100)), ['allocatableMemory.available']);
    const own = { ...memory(100), 'allocatableMemory.available': { amount: 20 } };
    assert.deepEqual(look(99, own), []);
    assert.deepEqual(look(19, own), ['allocatableMemory.available']);
  });
});

describe('by figures of a file system that does not answer any more', () => {
  const eviction = { ...defaultEviction, hard: { 'nodefs.available': { amount: 600 } }, transitionMs: 1 };
  const short = (askedMs: number) => ({ ...healthy, disk: { ...space, askedMs } });
  const dueAt = (watch: PressureWatch, askedMs: number, nowMs: number) => {
    const { due, met, pressures } = watch.look(short(askedMs), eviction, nowMs);
    assert.deepEqual([pressures.disk, met.length], [true, 1], 'the pressure stays');
    return due.length;
  };

  test('nothing is due once they are old', () => {
    const watch = new PressureWatch();
    assert.deepEqual([dueAt(watch, 0, 0), dueAt(watch, 0, 30_000), dueAt(watch, 0, 30_001)], [1, 1, 0]);
    assert.equal(dueAt(watch, 40_000, 41_000), 1);
  });

  test('nothing is due once a pod was evicted by them, until it answers again', () => {
    const watch = new PressureWatch();
    assert.equal(dueAt(watch, 0, 100), 1);
    watch.evicted(100);
    assert.deepEqual([dueAt(watch, 0, 200), dueAt(watch, 100, 200), dueAt(watch, 150, 200)], [0, 0, 1]);
  });

  test('a soft threshold does not become due', () => {
    const watch = new PressureWatch();
    const soft = { ...eviction, hard: {}, soft: eviction.hard, softGraceMs: { 'nodefs.available': minute } };
    const due = (askedMs: number, nowMs: number) => watch.look(short(askedMs), soft, nowMs).due.length;
    assert.deepEqual([due(0, 0), due(0, minute), due(minute + 1, minute + 1)], [0, 0, 1]);
  });

  test('memory is read at once, and due whatever went before', () => {
    const watch = new PressureWatch();
    watch.evicted(100);
    assert.equal(watch.look(withMemory(0), { ...eviction, hard: memory(100) }, 100).due.length, 1);
  });
});

test('what must be reclaimed keeps a threshold met until it is free besides', () => {
  const watch = new PressureWatch();
  const eviction = { ...defaultEviction, hard: memory(100), reclaim: memory(50), transitionMs: 1 };
  const seen = (availableBytes: number, nowMs: number) =>
    watch.look(withMemory(availableBytes), eviction, nowMs).pressures.memory;
  assert.equal(seen(120, 0), false, 'above the threshold that was never met');
  assert.equal(seen(99, 10), true);
  assert.equal(seen(149, 20), true);
  assert.equal(seen(150, 30), false);
  assert.equal(seen(120, 40), false);
});

describe('the disk', () => {
  const under = (change: Partial<Measurements>) =>
    new PressureWatch().look({ ...healthy, disk: space, ...change }, defaultEviction, 0).pressures.disk;

  test('is short where the images’ or the containers’ file system is', () => {
    assert.equal(under({ imageDisk: space }), false);
    assert.equal(under({ imageDisk: { ...space, availableBytes: 149 } }), true);
    assert.equal(under({ imageDisk: { ...space, inodesFree: 4, askedMs: 0 } }), true);
    const hard = { 'containerfs.available': toShare(20) };
    const full = { ...healthy, disk: space, containerDisk: { ...space, availableBytes: 199 } };
    assert.equal(new PressureWatch().look(full, { ...defaultEviction, hard }, 0).pressures.disk, true);
  });

  test('is not known while the node’s own file system is not', () => {
    assert.equal(under({ disk: undefined, imageDisk: space }), undefined);
    assert.equal(under({ disk: undefined, imageDisk: { ...space, availableBytes: 0 } }), true);
  });
});
