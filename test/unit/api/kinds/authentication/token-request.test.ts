import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingFields, tokenRequest } from '../../../../../src/api/index.ts';
import { isRecord } from '../../../../../src/api/schema/index.ts';
import { referenceNumbers } from '../reference-numbers.ts';

const sent = (spec: object = {}) => tokenRequest.default({ spec: { audiences: [], ...spec } });
const causes = (spec: object) =>
  tokenRequest.validate(sent(spec), undefined).map(({ field, message }) => `${field}: ${message}`);

test('a token lives for an hour unless another time is asked for', () => {
  assert.equal(sent().spec.expirationSeconds, 3600);
  assert.equal(sent({ expirationSeconds: 0 }).spec.expirationSeconds, 0, 'which is an answer, too');
  assert.deepEqual(missingFields(tokenRequest.root, sent({ audiences: undefined })), []);
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

test('there are no attestations without webhooks', () => {
  assert.deepEqual(causes({ attestations: {} }), []);
  assert.deepEqual(causes({ attestations: { a: ['b'] } }), [
    'spec.attestations: Invalid value: {"a":["b"]}: attestations may only be specified with a webhook bound object reference',
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
