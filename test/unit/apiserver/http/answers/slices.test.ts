import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapInSlices } from '../../../../../src/apiserver/http/answers/slices.ts';

test('what takes long lets others have their turn, and comes out in order', async () => {
  const items = Array.from({ length: 40 }, (_, index) => index);
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 1);
  const made = await mapInSlices(items, (item) => {
    const untilMs = performance.now() + 2;
    while (performance.now() < untilMs);
    return item * 2;
  });
  clearInterval(others);
  assert.deepEqual(
    made,
    items.map((item) => item * 2),
  );
  assert.ok(turns >= 5, `${turns} turns`);
});

test('what takes no time takes no turn', async () => {
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  assert.deepEqual(await mapInSlices([1, 2, 3], String), ['1', '2', '3']);
  assert.equal(turns, 0);
  await assert.rejects(() => mapInSlices([1], () => assert.fail('cannot')), /cannot/);
});
