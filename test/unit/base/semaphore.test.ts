import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Semaphore } from '../../../src/base/index.ts';

describe('Semaphore', () => {
  test('lets in as many as the limit, the others in the order in which they came', async () => {
    const semaphore = new Semaphore(() => 2);
    const [first, second] = [await semaphore.acquire(), await semaphore.acquire()];
    const order: string[] = [];
    const third = semaphore.acquire().then((slot) => {
      order.push('third');
      return slot;
    });
    const fourth = semaphore.acquire().then((slot) => {
      order.push('fourth');
      return slot;
    });
    assert.equal(semaphore.size, 4);
    second[Symbol.dispose]();
    second[Symbol.dispose](); // twice is once
    (await third)[Symbol.dispose]();
    (await fourth)[Symbol.dispose]();
    first[Symbol.dispose]();
    assert.deepEqual(order, ['third', 'fourth']);
    assert.equal(semaphore.size, 0);
  });

  test('passes over who gives up waiting', async () => {
    const semaphore = new Semaphore(() => 1);
    const first = await semaphore.acquire();
    const cancel = new AbortController();
    const second = semaphore.acquire(cancel.signal);
    const third = semaphore.acquire();
    cancel.abort(new Error('went away'));
    await assert.rejects(second, { message: 'went away' });
    await assert.rejects(semaphore.acquire(cancel.signal), { message: 'went away' });
    first[Symbol.dispose]();
    (await third)[Symbol.dispose]();
    assert.equal(semaphore.size, 0);
  });

  test('runs work at once when a slot is free, after those who wait when none is', async () => {
    const semaphore = new Semaphore(() => 1);
    const order: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = semaphore.run(async () => {
      order.push('first');
      await promise;
    });
    const second = semaphore.acquire();
    const third = semaphore.run(async () => order.push('third'));
    assert.deepEqual(order, ['first']);
    resolve();
    await first;
    order.push('second');
    (await second)[Symbol.dispose]();
    await third;
    assert.deepEqual(order, ['first', 'second', 'third']);
  });

  test('gives the slot back when the work fails', async () => {
    const semaphore = new Semaphore(() => 1);
    const failing = semaphore.run(async () => {
      throw new Error('no');
    });
    await assert.rejects(failing, { message: 'no' });
    assert.equal(semaphore.size, 0);
  });

  test('a raised limit counts from the next who comes or goes', async () => {
    let limit = 1;
    const semaphore = new Semaphore(() => limit);
    using _first = await semaphore.acquire();
    const second = semaphore.acquire();
    limit = 3;
    using _third = await semaphore.acquire();
    using _second = await second;
    assert.equal(semaphore.size, 3);
  });

  test('never more than the limit inside, and all get in', async () => {
    const waits = fc.array(fc.record({ gives: fc.boolean(), ticks: fc.nat(3) }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), waits, async (limit, visitors) => {
        const semaphore = new Semaphore(() => limit);
        let inside = 0;
        await Promise.allSettled(
          visitors.map(async ({ gives, ticks }) => {
            using _slot = await semaphore.acquire(gives ? AbortSignal.abort(new Error('no')) : undefined);
            inside += 1;
            assert.ok(inside <= limit);
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            inside -= 1;
          }),
        );
        assert.equal(semaphore.size, 0);
      }),
    );
  });
});
