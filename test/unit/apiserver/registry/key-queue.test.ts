import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KeyQueue } from '../../../../src/apiserver/registry/key-queue.ts';

test('those who want the same key go in one after another, in their order; other keys do not wait', async () => {
  const queue = new KeyQueue();
  const seen: string[] = [];
  const work = async (name: string, key: string) => {
    using _turn = await queue.enter(key);
    seen.push(`${name} in`);
    await setImmediate();
    seen.push(`${name} out`);
  };
  await Promise.all([work('a', 'x'), work('b', 'x'), work('other', 'y'), work('c', 'x')]);
  assert.deepEqual(
    seen.filter((step) => !step.startsWith('other')),
    ['a in', 'a out', 'b in', 'b out', 'c in', 'c out'],
  );
  assert.ok(seen.indexOf('other in') < seen.indexOf('a out'));
});

test('who fails leaves like any other', async () => {
  const queue = new KeyQueue();
  const failing = async () => {
    using _turn = await queue.enter('x');
    await setImmediate();
    throw new Error('no');
  };
  const [failed, entered] = await Promise.allSettled([failing(), queue.enter('x')]);
  assert.equal(failed.status, 'rejected');
  assert.equal(entered.status, 'fulfilled');
});
