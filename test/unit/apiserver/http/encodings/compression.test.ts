import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { nodeKind } from '../../../../../src/api/index.ts';
import { acceptsGzip } from '../../../../../src/apiserver/http/answers/compress.ts';
import { named, nodes, startServer } from '../../support/index.ts';
import { encodings, listType, mediaTypeOf, readBytes } from './wire.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const threshold = 128 * 1024;

/** A list of a bit more than the threshold in every encoding. */
before(async () => {
  for (let index = 0; index < 10; index += 1) {
    await admin.must('POST', nodes, named(`n${index}`, { annotations: { filler: 'ab'.repeat(10_000) } }));
  }
});

const get = (path: string, headers: Record<string, string>) => admin.request('GET', path, { headers });

describe('a large answer', () => {
  for (const encoding of encodings) {
    test(`in ${encoding} is packed for who takes gzip, and the same`, async () => {
      const accept = mediaTypeOf[encoding];
      const plain = await get(nodes, { accept });
      const packed = await get(nodes, { accept, 'accept-encoding': 'gzip' });
      assert.ok(plain.bytes.length > threshold);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(packed.headers['content-encoding'], 'gzip');
      assert.equal(packed.headers['content-length'], String(packed.bytes.length));
      assert.equal(packed.headers['content-type'], accept);
      assert.equal(packed.headers['vary'], 'Accept, Accept-Encoding');
      assert.ok(packed.bytes.length < plain.bytes.length / 4);
      assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
      const { items } = readBytes(accept, gunzipSync(packed.bytes), listType(nodeKind).root);
      assert.ok(Array.isArray(items) && items.length === 10);
    });
  }

  test('of one object or a table is packed too', async () => {
    await admin.must('POST', nodes, named('large', { annotations: { filler: 'ab'.repeat(80_000) } }));
    const one = await get(`${nodes}/large`, { 'accept-encoding': 'gzip' });
    assert.equal(JSON.parse(gunzipSync(one.bytes).toString()).metadata.name, 'large');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = await get(nodes, { accept, 'accept-encoding': 'gzip' });
    assert.equal(JSON.parse(gunzipSync(table.bytes).toString()).kind, 'Table');
  });
});

describe('is not packed', () => {
  test('what is small', async () => {
    const { headers } = await get(`${nodes}/n1`, { 'accept-encoding': 'gzip' });
    assert.equal(headers['content-encoding'], undefined);
  });

  test('for who does not take it', async () => {
    for (const coding of ['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *']) {
      const { headers } = await get(nodes, { 'accept-encoding': coding });
      assert.equal(headers['content-encoding'], undefined, coding);
    }
  });

  test('the answer to a write', async () => {
    const reply = await admin.request('POST', nodes, {
      body: named('written', { annotations: { filler: 'ab'.repeat(80_000) } }),
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(reply.code, 201);
    assert.equal(reply.headers['content-encoding'], undefined);
    assert.ok(reply.bytes.length > threshold);
  });

  test('anything, with the gate off', async () => {
    await using plain = await startServer({ gates: { APIResponseCompression: false } });
    await plain.admin.must('POST', nodes, named('n', { annotations: { filler: 'ab'.repeat(80_000) } }));
    const reply = await plain.admin.request('GET', nodes, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(reply.headers['content-encoding'], undefined);
    assert.equal(reply.headers['vary'], 'Accept');
    assert.ok(reply.bytes.length > threshold);
    for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
      const document = await plain.admin.request('GET', path, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(document.headers['content-encoding'], undefined, path);
      assert.ok(JSON.parse(document.text), path);
    }
  });

  test('a watch', async () => {
    using watch = await admin.watch(`${nodes}?resourceVersion=0`, { 'accept-encoding': 'gzip' });
    assert.equal((await watch.next()).type, 'ADDED');
  });
});

test('who takes gzip (RFC 9110, 12.5.3)', () => {
  for (const header of [
    'gzip',
    'GZIP',
    'x-gzip',
    '*',
    'br, gzip;q=0.1',
    'deflate, gzip',
    'gzip ; q=1.0',
    'gzip, *;q=0',
  ]) {
    assert.ok(acceptsGzip(header), header);
  }
  for (const header of [
    undefined,
    '',
    'identity',
    'br',
    'gzip;q=0',
    'gzip; q=0.000',
    '*;q=0',
    'gzip;q=0, *;q=1',
    'gzipped',
    'gzip;q=x',
  ]) {
    assert.ok(!acceptsGzip(header), header);
  }
});
