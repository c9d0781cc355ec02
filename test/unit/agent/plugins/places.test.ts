import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlaces } from '../../../../src/agent/plugins/places.ts';

const never = new AbortController().signal;

test('a place that is given back goes to whoever has waited longest and still waits', async () => {
  const places = createPlaces(1);
  const got: string[] = [];
  const take = async (name: string, cancel = never) => {
    const place = await places.take(cancel);
    if (place !== undefined) got.push(name);
    return place;
  };
  const first = await take('first');
  const leaving = new AbortController();
  const second = take('second', leaving.signal);
  const third = take('third');
  leaving.abort();
  assert.equal(await second, undefined);
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose](); // twice gives back one
  const fourth = take('fourth');
  (await third)?.[Symbol.dispose]();
  await fourth;
  assert.deepEqual(got, ['first', 'third', 'fourth']);
  assert.equal(await take('late', AbortSignal.abort()), undefined);
});
