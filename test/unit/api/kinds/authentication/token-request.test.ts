import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMissingFields, tokenRequest } from '../../../../../src/api/index.ts';
import { isRecord } from '../../../../../src/api/schema/index.ts';
import { referenceNumbers } from '../reference-numbers.ts';

const sent = (spec: object = {}) => tokenRequest.default({ spec: { audiences: [], ...spec } });
const causes = (spec: object) =>
  tokenRequest.validate(sent(spec), undefined).map(({ field, message }) => `${field}: ${message}`);

test('a token lives for an hour unless another time is asked for', () => {
  assert.equal(sent().spec.expirationSeconds, 3600);
  assert.equal(sent({ expirationSeconds: 0 }).spec.expirationSeconds, 0, 'which is an answer, too');
  assert.deepEqual(findMissingFields(tokenRequest.root, sent({ audiences: undefined })), []);
});

test('a token lives for ten minutes at least and 2^32 seconds at most', () => {
  const field = 'spec.expirationSeconds';
  for (const expirationSeconds of [600, 3600, 2 ** 32]) assert.deepEqual(causes({ expirationSeconds }), []);
  for (const expirationSeconds of [-1, 0, 599]) {
    const told = `${field}: Invalid value: ${expirationSeconds}: may not specify a duration less than 10 minutes`;
    assert.deepEqual(causes({ expirationSeconds }), [told]);
  }
  assert.deepEqual(causes({ expirationSeconds: 2 ** 32 + 1 }), [
    `${field}: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
  ]);
});

test('the audiences are bounded, so that the server takes the token that it makes', () => {
  const audiences = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, index) => 'x'.repeat(index === 0 ? bytes - count + 1 : 1));
  assert.deepEqual(causes({ audiences: audiences(100, 4096) }), []);
  assert.deepEqual(causes({ audiences: audiences(101, 101) }), [
    'spec.audiences: Too many: 101: must have at most 100 items',
  ]);
  assert.deepEqual(causes({ audiences: audiences(2, 4097) }), [
    'spec.audiences: Too long: may not be more than 4096 bytes',
  ]);
});

test('an audience has nothing that JSON says with a backslash', () => {
  const told = 'Forbidden: may not contain quotes, backslashes or control characters';
  for (const bad of ['a"b', '\\', 'a\nb', '\u0000', '\ud800'])
    assert.deepEqual(causes({ audiences: ['ok', bad] }), [`spec.audiences[1]: ${told}`], JSON.stringify(bad));
  const fine = ['', 'https://a.example/b?c=d#e', "it's", 'ä😀\u2028', '</>'];
  assert.deepEqual(causes({ audiences: fine }), []);
  assert.ok(!JSON.stringify(fine).includes('\\'));
});

test('there are no attestations without webhooks', () => {
  assert.deepEqual(causes({ attestations: {} }), []);
  assert.deepEqual(causes({ attestations: { a: ['b'] } }), [
    'spec.attestations: Forbidden: attestations may only be specified with a webhook bound object reference',
  ]);
});

test('its fields are numbered as the published messages are', () => {
  const numbers = (fields: object) =>
    Object.entries(fields)
      .filter(([name]) => name !== 'apiVersion' && name !== 'kind')
      .map(([name, field]) => `${name}=${isRecord(field) ? field['proto'] : ''}`)
      .sort();
  const { spec, status } = tokenRequest.root.fields;
  const structs = [tokenRequest.root, spec?.type, status?.type];
  for (const struct of structs) {
    assert.ok(struct?.t === 'struct');
    assert.deepEqual(numbers(struct.fields), referenceNumbers[struct.name]?.split(' ').sort(), struct.name);
  }
});
