import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenCache } from '../../../../src/apiserver/authn/token-cache.ts';

/** A cache, and how often each token was verified. */
function counted(maxEntries: number, maxBytes = 1000) {
  const cache = new TokenCache<{ of: string }>({ maxEntries, maxBytes });
  const verified: string[] = [];
  const find = (token: string, isGood = true) =>
    cache.find(token, async () => {
      verified.push(token);
      return isGood ? { of: token } : undefined;
    });
  return { cache, verified, find };
}

test('what was found good is not verified again, what was not is', async () => {
  const { verified, find, cache } = counted(10);
  assert.deepEqual(await find('a'), { of: 'a' });
  assert.deepEqual(await find('a'), { of: 'a' });
  assert.equal(await find('bad', false), undefined);
  assert.equal(await find('bad', false), undefined);
  assert.deepEqual(verified, ['a', 'bad', 'bad']);
  assert.equal(cache.size, 1);
});

test('many that ask at once wait for one verification', async () => {
  const { verified, find } = counted(10);
  const found = await Promise.all(Array.from({ length: 50 }, () => find('a')));
  assert.ok(found.every((each) => each?.of === 'a'));
  assert.deepEqual(verified, ['a']);
});

test('a verification that fails fails for all who wait, and is tried anew afterwards', async () => {
  const { cache, find } = counted(10);
  const broken = () => cache.find('a', () => Promise.reject(new Error('broken')));
  const outcomes = await Promise.allSettled([broken(), broken()]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(await find('a'), { of: 'a' });
});

test('when it is full, the one that was not used for longest goes', async () => {
  const { cache, verified, find } = counted(2);
  await find('a');
  await find('b');
  await find('a');
  await find('c');
  assert.equal(cache.size, 2);
  await find('a');
  await find('c');
  assert.deepEqual(verified, ['a', 'b', 'c']);
  await find('b');
  assert.deepEqual(verified, ['a', 'b', 'c', 'b']);
});

test('when the tokens are long together, as many go as it takes', async () => {
  const { cache, verified, find } = counted(100, 30);
  const tokens = ['a', 'b', 'c'].map((name) => name.repeat(10));
  for (const token of tokens) await find(token);
  assert.equal(cache.size, 3);
  await find('d'.repeat(20));
  assert.equal(cache.size, 2);
  await find(tokens[2] ?? '');
  assert.equal(verified.length, 4, 'the last of them is still known');
  await find('e'.repeat(31));
  assert.equal(cache.size, 0, 'what is too long alone is not kept');
  await find('f');
  cache.forget('f');
  for (const token of tokens) await find(token);
  assert.equal(cache.size, 3, 'what went left its room');
});

test('what is forgotten is verified again', async () => {
  const { cache, verified, find } = counted(2);
  await find('a');
  cache.forget('a');
  assert.equal(cache.size, 0);
  await find('a');
  assert.deepEqual(verified, ['a', 'a']);
});
