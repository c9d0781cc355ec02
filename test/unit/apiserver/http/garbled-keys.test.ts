import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ApiObject } from '../../../../src/api/index.ts';
import { encodeObject, nodeKind } from '../../../../src/api/index.ts';
import { configMaps, named, nodes, startServer } from '../support/index.ts';

/*
 * After one object with a key that is a backslash, V8 reads an escaped key of another text as that key
 * (nodejs/node#63785). Wherever a client's text is parsed, such a key must not get in. Each test has a first key of its
 * own, by which V8 finds the object made before.
 */

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, nobody } = server;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const withBackslash = (first: string) => `{"${first}":"1","\\\\":"1"}`;

/** The keys under which the server stores what has the keys `first` and, escaped, `a`. */
async function storedKeys(first: string): Promise<string[]> {
  const body = `{"metadata":{"name":"${first}"},"data":{"${first}":"u","\\u0061":"v"}}`;
  const { code, text } = await admin.request('POST', configMaps('default'), { body });
  assert.equal(code, 201, text);
  return Object.keys(JSON.parse(text).data);
}

function bearing(header: string, payload: string) {
  const token = [header, payload, 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  return { headers: { authorization: `Bearer ${token}` } };
}

describe('a client cannot garble the keys of another one', () => {
  test('by the header of a token that nobody has signed', async () => {
    for (let time = 0; time < 5; time++)
      await nobody.refused('Unauthorized', 'GET', nodes, bearing(withBackslash('zq1'), '{}'));
    assert.deepEqual(await storedKeys('zq1'), ['zq1', 'a']);
  });

  test('by the claims of such a token', async () => {
    const header = '{"alg":"ES256"}';
    for (let time = 0; time < 5; time++)
      await nobody.refused('Unauthorized', 'GET', nodes, bearing(header, withBackslash('zq2')));
    assert.deepEqual(await storedKeys('zq2'), ['zq2', 'a']);
  });

  test('by a token that is to be looked at', async () => {
    const { authorization } = bearing(withBackslash('zq3'), '{}').headers;
    const body = { spec: { token: authorization.slice('Bearer '.length) } };
    const { status } = await admin.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body);
    assert.equal(status?.['authenticated'], false);
    assert.deepEqual(await storedKeys('zq3'), ['zq3', 'a']);
  });

  for (const [first, type, key] of [
    ['zq4', 'kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
    ['zq5', 'kubernetes.io/dockercfg', '.dockercfg'],
  ] as const) {
    test(`by the credentials of a registry in ${key}`, async () => {
      const secret = { ...named(first), type, data: { [key]: base64(withBackslash(first)) } };
      await admin.refused('Invalid', 'POST', '/api/v1/namespaces/default/secrets', { body: secret });
      assert.deepEqual(await storedKeys(first), [first, 'a']);
    });
  }

  for (const [first, key] of [
    ['zq6', '\\\\'],
    ['zq7', '\\u005c'],
  ] as const) {
    test(`by the fields of a manager with the key ${key}, in JSON and within protobuf`, async () => {
      const fields = `{"${first}":{},"${key}":{}}`;
      const body = `{"metadata":{"name":"x","managedFields":[{"fieldsV1":${fields}}]}}`;
      await admin.refused('BadRequest', 'POST', nodes, { body });
      const mark = '#'.repeat(key.length);
      const metadata = { name: 'x', managedFields: [{ fieldsV1: { [first]: {}, [mark]: {} } }] };
      await admin.refused('BadRequest', 'POST', nodes, inProtobuf(metadata, mark, key));
      assert.deepEqual(await storedKeys(first), [first, 'a']);
    });
  }

  test('by a label in protobuf', async () => {
    const sent = inProtobuf({ name: 'x', labels: { zq8: '1', '#': '1' } }, '#', '\\');
    await admin.refused('BadRequest', 'POST', nodes, sent);
    assert.deepEqual(await storedKeys('zq8'), ['zq8', 'a']);
  });

  test('by a label in YAML', async () => {
    const body = "metadata: {name: x, labels: {zq9: '1', '\\': '1'}}";
    await admin.refused('BadRequest', 'POST', nodes, {
      body,
      headers: { 'content-type': 'application/yaml' },
    });
    assert.deepEqual(await storedKeys('zq9'), ['zq9', 'a']);
  });
});

/** A node in whose bytes a mark is replaced: the test must not make an object with the bad key itself. */
function inProtobuf(metadata: object, mark: string, replacement: string) {
  const node: ApiObject = { kind: 'Node', apiVersion: 'v1', metadata };
  const bytes = encodeObject(nodeKind, node, 'protobuf');
  const body = Buffer.from(
    Buffer.from(bytes)
      .toString('latin1')
      .replace(mark, () => replacement),
    'latin1',
  );
  return { body, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } };
}
