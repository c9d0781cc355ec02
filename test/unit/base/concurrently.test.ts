import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { forEachConcurrently, mapConcurrently } from '../../../src/base/index.ts';

test('works on so many at a time, and gives the results in the order of the items', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrently([30, 10, 20, 5], 2, async (ticks) => {
    running += 1;
    most = Math.max(most, running);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    running -= 1;
    return ticks * 2;
  });
  assert.deepEqual(results, [60, 20, 40, 10]);
  assert.equal(most, 2);
});

test('after a failure nothing more is begun, what runs is waited for', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    if (item === 1) throw new Error('no');
    await setImmediate();
    ended.push(item);
  };
  await assert.rejects(forEachConcurrently([0, 1, 2, 3], 2, work), { message: 'no' });
  assert.deepEqual([begun, ended], [[0, 1], [0]]);
});

test('begins nothing once the signal aborts', async () => {
  const begun: number[] = [];
  const stop = new AbortController();
  const work = async (item: number) => {
    begun.push(item);
    stop.abort();
  };
  await forEachConcurrently([0, 1, 2], 1, work, stop.signal);
  assert.deepEqual(begun, [0]);
});
