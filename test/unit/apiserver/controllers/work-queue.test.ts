import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkQueue } from '../../../../src/apiserver/controllers/work-queue.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';

/** A queue whose work the test decides, running until it is disposed of. */
function start(work: (key: string) => Promise<void>, atOnce = 1) {
  const clock = createManualClock();
  const stop = new AbortController();
  const queue = new WorkQueue({ work, atOnce, clock, log: recordedLog().log });
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

  test('works on several keys at once, on each once at a time, and on no more than it was told', async () => {
    const underWay: string[] = [];
    const gates = new Map<string, PromiseWithResolvers<void>>();
    let most = 0;
    await using started = start(async (key) => {
      assert.ok(!underWay.includes(key), `${key} is not worked on twice at once`);
      underWay.push(key);
      most = Math.max(most, underWay.length);
      const gate = Promise.withResolvers<void>();
      gates.set(key, gate);
      await gate.promise;
      underWay.splice(underWay.indexOf(key), 1);
    }, 3);
    const finish = async (key: string) => {
      gates.get(key)?.resolve();
      await started.clock.advance(0);
    };
    for (const key of ['a', 'b', 'c', 'd']) started.queue.add(key);
    await started.clock.advance(0);
    assert.deepEqual(underWay, ['a', 'b', 'c']);
    started.queue.add('a');
    await finish('b');
    assert.deepEqual(underWay, ['a', 'c', 'd'], 'the next one, and not the same again');
    await finish('d');
    assert.deepEqual(underWay, ['a', 'c'], 'one that is under way waits for itself');
    await finish('a');
    assert.deepEqual(underWay, ['c', 'a']);
    for (const key of ['a', 'c']) await finish(key);
    assert.deepEqual([underWay, most], [[], 3]);
    started.queue.add('late');
    await started.clock.advance(0);
    assert.deepEqual(underWay, ['late'], 'idle workers wake');
    await finish('late');
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
