import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { configMaps, named, nodes, startServer, statusIn } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const collection = configMaps('default');
const merge = { 'content-type': 'application/merge-patch+json' };

describe('warnings of unknown fields on failures', () => {
  const warning = '299 - "unknown field \\"Metadata\\""';

  test('explain why a name is missing', async () => {
    const reply = await admin.request('POST', collection, { body: { Metadata: { name: 'x' } } });
    assert.equal(reply.code, 422);
    assert.equal(reply.headers['warning'], warning);
    assert.deepEqual(
      statusIn(reply).details?.causes?.map(({ field }) => field),
      ['metadata.name'],
    );
  });

  test('come with refused updates, patches and configurations too', async () => {
    await admin.must('POST', collection, named('there'));
    const path = `${collection}/there`;
    const bad = { Metadata: {}, data: { 'bad key': 'x' } };
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    for (const [method, query, send] of [
      ['PUT', '', { body: { ...named('there'), ...bad } }],
      ['PATCH', '', { body: bad, headers: merge }],
      ['PATCH', '?fieldManager=a', { body: { ...kind, ...bad }, headers: apply }],
    ] as const) {
      const reply = await admin.request(method, path + query, send);
      assert.equal(reply.code, 422, reply.text);
      assert.equal(reply.headers['warning'], warning);
    }
  });

  test('are left out where nobody asked for them', async () => {
    const reply = await admin.request('POST', `${collection}?fieldValidation=Ignore`, { body: { x: 1 } });
    assert.deepEqual([reply.code, reply.headers['warning']], [422, undefined]);
    const strict = await admin.request('POST', `${collection}?fieldValidation=Strict`, { body: { x: 1 } });
    assert.deepEqual([strict.code, strict.headers['warning']], [400, undefined]);
  });
});

describe('a body', () => {
  test('null is an object without a name: 422', async () => {
    const headers = { 'content-type': 'application/json' };
    const reply = await admin.request('POST', nodes, { body: Buffer.from('null'), headers });
    assert.equal(reply.code, 422, reply.text);
    assert.match(statusIn(reply).message ?? '', /name or generateName is required/);
  });

  test('with a lone surrogate is stored with U+FFFD, whatever it is sent as', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = Buffer.from('{"metadata":{"name":"half"},"data":{"a":"\\ud800"}}');
    assert.equal((await admin.request('POST', collection, { body, headers })).code, 201);
    const patches = [
      ['application/json-patch+json', '[{"op":"add","path":"/data/b","value":"\\udfff"}]'],
      ['application/merge-patch+json', '{"data":{"c":"\\ud83d"}}'],
      ['application/strategic-merge-patch+json', '{"data":{"d":"\\ud83dx"}}'],
      ['application/apply-patch+yaml', '{"apiVersion":"v1","kind":"ConfigMap","data":{"e":"\\ud800"}}'],
      ['application/apply-patch+yaml', 'apiVersion: v1\nkind: ConfigMap\ndata: {e: "\\ud800"}'],
    ] as const;
    for (const [type, text] of patches) {
      const query = type.includes('apply') ? '?fieldManager=m' : '';
      const sent = { body: Buffer.from(text), headers: { 'content-type': type } };
      const reply = await admin.request('PATCH', `${collection}/half${query}`, sent);
      assert.equal(reply.code, 200, reply.text);
    }
    const { text } = await admin.request('GET', `${collection}/half`);
    assert.doesNotMatch(text, /\\ud/i);
    const half = '\ufffd';
    assert.deepEqual(JSON.parse(text).data, { a: half, b: half, c: half, d: `${half}x`, e: half });
  });

  test('with a byte order mark before JSON is 400', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = Buffer.from(`\ufeff${JSON.stringify(named('marked'))}`);
    await admin.refused('BadRequest', 'POST', collection, { body, headers });
    const patch = { body: Buffer.from('\ufeff{"data":{}}'), headers: merge };
    await admin.refused('BadRequest', 'PATCH', `${collection}/half`, patch);
  });

  test('with a null entry in a list is judged as one with an empty entry', async () => {
    const body = { ...named('taken'), spec: { taints: [null] } };
    const { details } = await admin.refused('Invalid', 'POST', nodes, { body });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['spec.taints[0].key', 'spec.taints[0].effect'],
    );
  });

  test('with "data" twice is merged', async () => {
    const body = Buffer.from('{"metadata":{"name":"twice"},"data":{"a":"1"},"data":{"b":"2"}}');
    const headers = { 'content-type': 'application/json' };
    const reply = await admin.request('POST', collection, { body, headers });
    assert.deepEqual(JSON.parse(reply.text).data, { a: '1', b: '2' });
    assert.equal(reply.headers['warning'], '299 - "duplicate field \\"data\\""');
  });
});
