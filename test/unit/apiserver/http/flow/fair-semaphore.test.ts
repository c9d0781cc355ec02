import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import type { SlotLimits } from '../../../../../src/apiserver/http/flow/fair-semaphore.ts';
import { FairSemaphore } from '../../../../../src/apiserver/http/flow/fair-semaphore.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const tooMany = { reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 1 } };
const limits: SlotLimits = {
  slots: 1,
  maxWaiting: 4,
  maxWaitingPerUser: 3,
  maxWaitingBytes: 1000,
  maxWaitMs: 5000,
};

/** Seats, with what they told of those who could not begin at once, in words. */
function seatsWith(changed: Partial<SlotLimits> = {}) {
  const clock = createManualClock();
  const told: string[] = [];
  const seats = new FairSemaphore({ ...limits, ...changed }, clock, {
    waited: (ms, seated) => told.push(`${seated ? 'seated' : 'left'} after ${ms} ms`),
    refused: (why) => told.push(why),
  });
  const responseOf = () => Object.assign(new EventEmitter(), { destroyed: false });
  const take = (user = 'a', bytes = 0, response = responseOf()) => seats.take({ user, bytes, response });
  /** Takes a seat and gives it back as soon as it has it; tells the order in which that is. */
  const order: string[] = [];
  const pass = async (name: string, user: string) => {
    using _seat = await take(user);
    order.push(name);
  };
  return { clock, told, seats, responseOf, take, order, pass };
}

describe('seats', () => {
  test('while there are some, they are taken at once and nobody is told', () => {
    const { seats, take, told } = seatsWith({ slots: 2 });
    const [one, two] = [take(), take()];
    assert.ok(!(one instanceof Promise) && !(two instanceof Promise));
    assert.deepEqual([seats.busy, seats.waiting], [2, 0]);
    one[Symbol.dispose]();
    one[Symbol.dispose]();
    assert.equal(seats.busy, 1, 'given back twice is one seat');
    assert.deepEqual(told, []);
  });

  test('who comes beyond waits, and is seated when a seat is given back: users in turn', async () => {
    const { seats, take, pass, order, told, clock } = seatsWith({ maxWaiting: 10 });
    const first = await take();
    const all = [
      pass('a1', 'a'),
      pass('a2', 'a'),
      pass('a3', 'a'),
      pass('b1', 'b'),
      pass('c1', 'c'),
      pass('b2', 'b'),
    ];
    assert.deepEqual([seats.busy, seats.waiting], [1, 6]);
    await clock.advance(20);
    assert.deepEqual(order, []);
    first[Symbol.dispose]();
    await Promise.all(all);
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.deepEqual([seats.busy, seats.waiting], [0, 0]);
    assert.deepEqual(
      told,
      Array.from({ length: 6 }, () => 'seated after 20 ms'),
    );
  });

  test('the line is bounded: in all, for each user, and in bytes', async () => {
    const { take, told } = seatsWith();
    await take();
    const waiting = [take('a'), take('a', 400), take('a')];
    assert.throws(() => take('a'), tooMany, 'a has three');
    assert.throws(() => take('b', 601), tooMany, '400 bytes are waiting');
    waiting.push(take('b', 600));
    assert.throws(() => take('c'), tooMany, 'four are waiting');
    assert.deepEqual(told, ['queue-full', 'queue-full', 'queue-full']);
    assert.ok(waiting.every((one) => one instanceof Promise));
  });

  test('who has waited for long is told to come again, in bounded time', async () => {
    const { seats, take, told, clock } = seatsWith();
    const first = await take();
    const refused = assert.rejects(async () => await take('a', 1000), tooMany);
    await clock.advance(3000);
    const late = take('b');
    await clock.advance(2100);
    await refused;
    assert.equal(seats.waiting, 1, 'the other has time left');
    assert.match(told.join(), /^time-out,left after 5[01]\d\d ms$|^left after 5[01]\d\d ms,time-out$/);
    first[Symbol.dispose]();
    const seat = await late;
    seat[Symbol.dispose]();
    assert.ok(!(take('a', 1000) instanceof Promise));
    await clock.advance(1000);
    assert.equal(clock.sleepers, 0, 'nobody looks at the time when nobody waits');
  });

  test('a client that goes gives its place back, with its bytes', async () => {
    const { seats, take, responseOf, told } = seatsWith({ maxWaiting: 1 });
    const first = await take();
    const response = responseOf();
    const gone = assert.rejects(async () => await take('a', 1000, response), tooMany);
    assert.throws(() => take('b'), tooMany);
    response.emit('close');
    await gone;
    assert.equal(seats.waiting, 0);
    assert.equal(response.listenerCount('close'), 0);
    assert.deepEqual(told, ['queue-full', 'left after 0 ms', 'cancelled']);
    const second = take('b', 1000);
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    assert.equal(seats.busy, 0);
    assert.throws(() => {
      void take();
      void take('c', 0, Object.assign(responseOf(), { destroyed: true }));
    }, tooMany);
  });

  test('one who is seated no longer listens for the end of its client', async () => {
    const { seats, take, responseOf } = seatsWith();
    const first = await take();
    const response = responseOf();
    const second = take('a', 0, response);
    first[Symbol.dispose]();
    const seat = await second;
    assert.equal(response.listenerCount('close'), 0);
    assert.equal(seats.busy, 1);
    seat[Symbol.dispose]();
    assert.equal(seats.busy, 0);
  });
});
