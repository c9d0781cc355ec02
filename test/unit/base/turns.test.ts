import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createKeyedTurns, createTurns } from '../../../src/base/index.ts';

const never = new AbortController().signal;

describe('turns', () => {
  test('so many at a time, the others in the order of their coming', async () => {
    const turns = createTurns(() => 2);
    const [first, second] = [await turns.take(never), await turns.take(never)];
    const order: string[] = [];
    const third = turns.take(never).then((turn) => {
      order.push('third');
      return turn;
    });
    const fourth = turns.take(never).then((turn) => {
      order.push('fourth');
      return turn;
    });
    assert.equal(turns.size, 4);
    second[Symbol.dispose]();
    second[Symbol.dispose](); // twice is once
    (await third)[Symbol.dispose]();
    (await fourth)[Symbol.dispose]();
    first[Symbol.dispose]();
    assert.deepEqual(order, ['third', 'fourth']);
    assert.equal(turns.size, 0);
  });

  test('who gives up waiting is passed over', async () => {
    const turns = createTurns(() => 1);
    const first = await turns.take(never);
    const cancel = new AbortController();
    const second = turns.take(cancel.signal);
    const third = turns.take(never);
    cancel.abort(new Error('went away'));
    await assert.rejects(second, { message: 'went away' });
    await assert.rejects(turns.take(cancel.signal), { message: 'went away' });
    first[Symbol.dispose]();
    (await third)[Symbol.dispose]();
    assert.equal(turns.size, 0);
  });

  test('never more than the limit inside, and all get in', async () => {
    const waits = fc.array(fc.record({ gives: fc.boolean(), ticks: fc.nat(3) }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), waits, async (limit, visitors) => {
        const turns = createTurns(() => limit);
        let inside = 0;
        await Promise.allSettled(
          visitors.map(async ({ gives, ticks }) => {
            using _turn = await turns.take(gives ? AbortSignal.abort(new Error('no')) : never);
            inside += 1;
            assert.ok(inside <= limit);
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            inside -= 1;
          }),
        );
        assert.equal(turns.size, 0);
      }),
    );
  });

  test('keys do not wait for each other', async () => {
    const turns = createKeyedTurns();
    using _a = await turns.take('a', never);
    using _b = await turns.take('b', never);
    const cancel = new AbortController();
    const again = turns.take('a', cancel.signal);
    cancel.abort(new Error('enough'));
    await assert.rejects(again, { message: 'enough' });
  });
});
