import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Secret } from '../../../../src/api/kinds/core/secret.ts';
import { secretKind } from '../../../../src/api/kinds/core/secret.ts';

const causes = (next: Secret, old?: Secret) =>
  secretKind.validate(next, old).map(({ field, message }) => `${field}: ${message}`);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a Secret', () => {
  test('is opaque unless told otherwise', () => {
    assert.equal(secretKind.default({}).type, 'Opaque');
    assert.equal(secretKind.default({ type: '' }).type, 'Opaque');
    assert.equal(secretKind.default({ type: 'example.com/mine' }).type, 'example.com/mine');
  });

  test('takes values as text, over those of the same key, and keeps no text', () => {
    const sent: Secret = { data: { a: base64('old'), b: base64('b') }, stringData: { a: 'neü', c: '' } };
    assert.deepEqual(secretKind.default(sent), {
      type: 'Opaque',
      data: { a: base64('neü'), b: base64('b'), c: '' },
    });
    assert.deepEqual(secretKind.default({ stringData: {} }), { type: 'Opaque', data: {} });
  });

  test('has good keys and one mebibyte of values', () => {
    assert.match(causes({ data: { '..a': '' } }).join(), /^data\[\.\.a\]: Invalid value: "\.\.a"/);
    const limit = 1024 * 1024;
    assert.deepEqual(causes({ data: { a: Buffer.alloc(limit).toString('base64') } }), []);
    assert.deepEqual(causes({ data: { a: Buffer.alloc(limit + 1).toString('base64') } }), [
      'data: Too long: may not be more than 1048576 bytes',
    ]);
  });

  const wants: [string, Secret, string[]][] = [
    ['tls', { data: { 'tls.crt': '' } }, ['data[tls.key]: Required value']],
    ['tls', { data: { 'tls.crt': '', 'tls.key': '' } }, []],
    ['ssh-auth', { data: { 'ssh-privatekey': '' } }, ['data[ssh-privatekey]: Required value']],
    ['ssh-auth', { data: { 'ssh-privatekey': 'AAAA' } }, []],
    ['basic-auth', {}, ['data[username]: Required value', 'data[password]: Required value']],
    ['basic-auth', { data: { password: '' } }, []],
    ['dockercfg', {}, ['data[.dockercfg]: Required value']],
    ['dockercfg', { data: { '.dockercfg': base64('{"a":{}}') } }, []],
    ['dockerconfigjson', { data: { '.dockerconfigjson': base64('{"auths":{}}') } }, []],
    [
      'dockerconfigjson',
      { data: { '.dockerconfigjson': base64('{"password": hunter2') } },
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be a JSON object'],
    ],
    [
      'service-account-token',
      {},
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'service-account-token',
      { metadata: { annotations: { 'kubernetes.io/service-account.name': 'robot' } } },
      [],
    ],
  ];
  for (const [type, secret, expected] of wants) {
    test(`of type ${type} ${expected.length === 0 ? 'is whole' : 'lacks something'}: ${JSON.stringify(secret)}`, () => {
      assert.deepEqual(causes({ ...secret, type: `kubernetes.io/${type}` }), expected);
    });
  }

  test('keeps its type, and when it is immutable its values', () => {
    const old: Secret = { type: 'Opaque', immutable: true, data: { a: 'AAAA' } };
    assert.deepEqual(causes({ ...old, metadata: { labels: { a: 'b' } } }, old), []);
    assert.deepEqual(causes({ ...old, type: 'example.com/other', data: {} }, old), [
      'type: Invalid value: "<secret contents redacted>": field is immutable',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });

  test('can be selected by its type', () => {
    const [field] = secretKind.selectable;
    assert.equal(field?.path, 'type');
    assert.equal(field?.value({ type: 'kubernetes.io/tls' }), 'kubernetes.io/tls');
  });
});
