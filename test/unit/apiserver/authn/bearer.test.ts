import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerToken } from '../../../../src/apiserver/authn/index.ts';

test('a bearer token is what follows the scheme, in whatever case that is written', () => {
  for (const header of ['Bearer abc', 'bearer abc', 'BEARER   abc', 'Bearer abc ']) {
    assert.equal(bearerToken(header), 'abc', header);
  }
});

test('other schemes, and a scheme alone, bring no token', () => {
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic abc',
    'Bearerabc',
    'Bearer a b',
    ' Bearer abc',
  ]) {
    assert.equal(bearerToken(header), undefined, header);
  }
});
