import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AnswerCache, OverloadedError } from '../../../../../src/agent/server/access/answer-cache.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

function cacheWith(maxEntries = 10, maxPending = 10) {
  const clock = createManualClock();
  const found: string[] = [];
  const cache = new AnswerCache<string>({
    maxEntries,
    maxPending,
    isGood: (answer) => answer !== 'no',
    clock,
    onFind: (how) => void found.push(how),
  });
  let asked = 0;
  const find = (key: string, answer = 'yes', ttlMs = 1000) =>
    cache.find(
      key,
      () => ttlMs,
      async () => {
        asked += 1;
        return answer;
      },
    );
  return { cache, clock, found, find, asked: () => asked };
}

describe('an answer', () => {
  test('is kept for its time, counted from the question, and no longer', async () => {
    const { find, clock, asked, found } = cacheWith();
    assert.equal(await find('a'), 'yes');
    await clock.advance(999);
    assert.equal(await find('a', 'other'), 'yes');
    await clock.advance(1);
    assert.equal(await find('a', 'other'), 'other');
    assert.equal(asked(), 2);
    assert.deepEqual(found, ['miss', 'hit', 'miss']);
  });

  test('counts for less as soon as its time is made shorter', async () => {
    const { find, clock } = cacheWith();
    await find('a', 'yes', 1000);
    await clock.advance(100);
    assert.equal(await find('a', 'other', 50), 'other');
  });

  test('with no time is not kept at all', async () => {
    const { cache, find, asked } = cacheWith();
    await find('a', 'yes', 0);
    await find('a', 'yes', 0);
    assert.equal(asked(), 2);
    assert.equal(cache.size, 0);
  });

  test('that could not be had is not kept, and fails all who wait for it', async () => {
    const { cache, find } = cacheWith();
    const failing = () => Promise.reject(new Error('away'));
    const all = [1, 2].map(() => cache.find('a', () => 1000, failing));
    for (const one of await Promise.allSettled(all)) assert.equal(one.status, 'rejected');
    assert.equal(await find('a'), 'yes');
  });

  test('is asked for once, however many ask at a time', async () => {
    const { cache, found } = cacheWith();
    const answers = Promise.withResolvers<string>();
    let asked = 0;
    const ask = () => {
      asked += 1;
      return answers.promise;
    };
    const all = Array.from({ length: 50 }, () => cache.find('a', () => 1000, ask));
    answers.resolve('yes');
    assert.deepEqual(new Set(await Promise.all(all)), new Set(['yes']));
    assert.equal(asked, 1);
    assert.equal(found.filter((how) => how === 'shared').length, 49);
  });
});

describe('bounds', () => {
  test('the one that was not used for longest goes', async () => {
    const { cache, find, asked } = cacheWith(2);
    await find('a');
    await find('b');
    await find('a');
    await find('c');
    assert.equal(cache.size, 2);
    const before = asked();
    await find('a');
    assert.equal(asked(), before, 'it is still known');
    await find('b');
    assert.equal(asked(), before + 1);
  });

  test('a flood of bad ones drives no good one out', async () => {
    const { cache, find, asked } = cacheWith(2);
    await find('good');
    for (let n = 0; n < 100; n += 1) await find(`bad-${n}`, 'no');
    assert.equal(cache.size, 3);
    const before = asked();
    await find('good');
    assert.equal(asked(), before);
  });

  test('too many questions at once are refused, and known answers are not', async () => {
    const { cache, find } = cacheWith(10, 2);
    await find('known');
    const pending = Promise.withResolvers<string>();
    const waiting = ['a', 'b'].map((key) =>
      cache.find(
        key,
        () => 1000,
        () => pending.promise,
      ),
    );
    await assert.rejects(find('c'), OverloadedError);
    assert.equal(await find('known'), 'yes');
    pending.resolve('yes');
    await Promise.all(waiting);
    assert.equal(await find('c'), 'yes');
  });
});
