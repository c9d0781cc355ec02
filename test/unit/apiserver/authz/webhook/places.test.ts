import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from '../../../../../src/apiserver/authz/webhook/places.ts';

test('there are so many places in all, and fewer for one; who leaves makes room', () => {
  const places = new Places({ most: 3, mostOfOne: 2 });
  const first = places.take('jane');
  places.take('jane');
  assert.throws(() => places.take('jane'), { message: /about user "jane"/ });
  const joes = places.take('joe');
  assert.throws(() => places.take('ann'), { message: 'too many questions wait for it already' });
  joes[Symbol.dispose]();
  assert.throws(() => places.take('jane'), { message: /about user "jane"/ });
  first[Symbol.dispose]();
  places.take('jane');
  places.take('ann');
  assert.throws(() => places.take('joe'), { message: 'too many questions wait for it already' });
});
