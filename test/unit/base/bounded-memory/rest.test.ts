import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { CollectorAtRest } from '../../../../src/base/bounded-memory/rest.ts';

const mebibyte = 1024 * 1024;

describe('the collector at rest', () => {
  const heap = { ms: 0, used: 0, held: 0, collections: 0 };
  let collector: CollectorAtRest;

  beforeEach(() => {
    Object.assign(heap, { ms: 1000, used: 20 * mebibyte, held: 40 * mebibyte, collections: 0 });
    collector = new CollectorAtRest({
      cpuMs: () => heap.ms,
      usedBytes: () => heap.used,
      heldBytes: () => heap.held,
      collect() {
        heap.collections++;
        heap.held = heap.used;
        heap.ms += 800;
      },
    });
  });

  /** One check after 30 s in which the process took this CPU time. */
  function after(cpuMs: number): number {
    heap.ms += cpuMs;
    collector.check();
    return heap.collections;
  }

  test('waits for the end of the start, then collects once', () => {
    assert.equal(after(1500), 0, 'still at work');
    assert.equal(after(100), 1);
    for (let each = 0; each < 50; each++) assert.equal(after(100), 1, 'nothing to gain');
  });

  test('collects again when the heap has grown and the process rests again', () => {
    after(0);
    heap.held += 10 * mebibyte;
    for (let each = 0; each < 20; each++) assert.equal(after(700), 1, 'at work');
    assert.equal(after(500), 2);
  });

  test('collects at most every five minutes, however fast the heap grows', () => {
    for (let each = 0; each < 40; each++) {
      heap.held += 5 * mebibyte;
      after(0);
    }
    assert.equal(heap.collections, 4);
  });

  test('leaves a large heap alone', () => {
    heap.used = 65 * mebibyte;
    heap.held = 200 * mebibyte;
    assert.equal(after(0), 0);
    heap.used = 64 * mebibyte;
    assert.equal(after(0), 1);
  });
});
