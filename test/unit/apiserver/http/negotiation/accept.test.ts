import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../../../../src/api/index.ts';
import {
  chooseOffer,
  covers,
  listAcceptedRanges,
} from '../../../../../src/apiserver/http/negotiation/accept.ts';

const types = (accept: string | undefined) => listAcceptedRanges(accept).map(({ type }) => type);

test('what a client takes is read in the order of quality, then as it stands', () => {
  assert.deepEqual(types('a/a;q=0.5, b/b, C/C;v=2'), ['b/b', 'c/c', 'a/a']);
  assert.deepEqual(types('a/a;q=0, b/b;q=0.0'), []);
  assert.deepEqual(types(undefined), ['*/*']);
  assert.deepEqual(types('  '), ['*/*']);
  assert.equal(listAcceptedRanges('a/a; g = x ;v=v2;q=0.3')[0]?.parameters.get('g'), 'x');
  assert.equal(types(Array(1000).fill('a/a').join()).length, 32, 'bounded');
});

test('the first that can be had is chosen', () => {
  const offer = (accept: string) =>
    chooseOffer(accept, (range) => ['application/json', 'text/plain'].find((type) => covers(range, type)), [
      'application/json',
      'text/plain',
    ]);
  assert.equal(offer('image/png, text/*;q=0.5'), 'text/plain');
  assert.equal(offer('*/*'), 'application/json');
  assert.equal(offer('application/*, text/plain'), 'application/json');
  assert.throws(
    () => offer('image/png'),
    (error) => error instanceof StatusError && error.code === 406 && /text\/plain/.test(error.message),
  );
});
