import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SingleFlight } from '../../../src/base/index.ts';

test('who asks the same meanwhile shares the answer, and it is asked again afterwards', async () => {
  const flights = new SingleFlight<number>();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return asked;
  };
  const answers = await Promise.all([flights.run('a', ask), flights.run('a', ask), flights.run('b', ask)]);
  assert.deepEqual(answers, [1, 1, 2]);
  assert.equal(flights.size, 0);
  assert.equal(await flights.run('a', ask), 3);
});

test('a failure is shared, too, and not kept', async () => {
  const flights = new SingleFlight<string>();
  const failing = () => Promise.reject(new Error('no'));
  const [first, second] = [flights.run('a', failing), flights.run('a', async () => 'never asked')];
  assert.equal(flights.get('a'), first);
  await assert.rejects(first, { message: 'no' });
  await assert.rejects(second, { message: 'no' });
  assert.equal(await flights.run('a', async () => 'well'), 'well');
});
