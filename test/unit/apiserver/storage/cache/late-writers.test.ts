import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppliedWaiters, LateWriters } from '../../../../../src/apiserver/storage/cache/applied-waiters.ts';

test('a writer is answered as soon as the cache has what he wrote', async () => {
  const waiters = new AppliedWaiters();
  const late = new LateWriters(waiters, 60_000);
  let isAnswered = false;
  const waiting = late.wait(7).then(() => {
    isAnswered = true;
  });
  waiters.reached(6);
  await Promise.resolve();
  assert.equal(isAnswered, false);
  waiters.reached(7);
  await waiting;
});

test('writers are answered, the first one first, where the cache cannot follow', async () => {
  const late = new LateWriters(new AppliedWaiters(), 50);
  const begunMs = performance.now();
  // as the timer does not keep a process alive, something else has to
  const alive = setTimeout(() => assert.fail('nobody is answered'), 20_000);
  const answered: number[] = [];
  await Promise.all([7, 8].map((revision) => late.wait(revision).then(() => answered.push(revision))));
  assert.deepEqual(answered, [7, 8]);
  assert.ok(performance.now() - begunMs >= 50);
  await late.wait(9); // and again, after a time when nobody waited
  clearTimeout(alive);
});
