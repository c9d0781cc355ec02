import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createWorkQueue } from '../../../../src/apiserver/controllers/work-queue.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';

/** A queue whose work the test decides, running until it is disposed of. */
function start(work: (key: string) => Promise<void>) {
  const clock = createManualClock();
  const stop = new AbortController();
  const queue = createWorkQueue({ work, clock, log: recordedLog().log });
  const running = queue.run(stop.signal);
  return {
    clock,
    queue,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      assert.equal(clock.sleepers, 0, 'nobody sleeps any more');
    },
  };
}

describe('a work queue', () => {
  test('looks once at a key that was added often', async () => {
    const seen: string[] = [];
    await using started = start(async (key) => void seen.push(key));
    for (const key of ['a', 'b', 'a', 'a']) started.queue.add(key);
    await started.clock.advance(0);
    assert.deepEqual(seen, ['a', 'b']);
  });

  test('looks again at a key that was added while it was being looked at', async () => {
    const gate = Promise.withResolvers<void>();
    let count = 0;
    await using started = start(async () => {
      count += 1;
      await gate.promise;
    });
    started.queue.add('a');
    await started.clock.advance(0);
    started.queue.add('a');
    gate.resolve();
    await started.clock.advance(0);
    assert.equal(count, 2);
  });

  test('tries a failing key again later and later, and goes on with the others', async () => {
    const seen: string[] = [];
    await using started = start(async (key) => {
      seen.push(key);
      if (key === 'bad') throw new Error('not yet');
    });
    started.queue.add('bad');
    started.queue.add('good');
    await started.clock.advance(0);
    assert.deepEqual(seen, ['bad', 'good']);
    await started.clock.advance(10_000);
    const early = seen.length;
    assert.ok(early > 4, 'soon at first');
    await started.clock.advance(10_000);
    assert.ok(seen.length - early <= 2, 'then seldom');
  });

  test('a key that fails again and again while it is added is tried later only once', async () => {
    let count = 0;
    await using started = start(async () => {
      count += 1;
      throw new Error('never');
    });
    for (let round = 0; round < 50; round += 1) {
      started.queue.add('a');
      await started.clock.advance(0);
    }
    assert.equal(count, 50);
    assert.equal(started.clock.sleepers, 1, 'one retry waits');
    await started.clock.advance(120_000);
    assert.ok(count <= 53, `${count}`);
  });
});
