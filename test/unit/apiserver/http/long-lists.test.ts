import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { waitFor } from '../../../support/index.ts';
import type { TestServer } from '../support/index.ts';
import { configMaps, named, startServer } from '../support/index.ts';
import { getBytes } from './get-bytes.ts';
import { Http2Client } from './http2-client.ts';

const path = configMaps('default');
/** Together far more than a connection takes on its own. */
const [count, bytesEach] = [60, 200_000];

const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: x\r\naccept: application/json\r\n\r\n`);

describe('a long list', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ http2: true });
    await waitFor('the namespace to be furnished', async () => (await server.admin.list(path)).length === 1);
    for (let index = 0; index < count; index++) {
      const data = { text: String(index % 10).repeat(bytesEach) };
      await server.admin.must('POST', path, { ...named(`map-${index}`), data });
    }
  });
  after(() => server[Symbol.asyncDispose]());

  /** Reads the beginning, and then no more. */
  async function readFirst(socket: TLSSocket): Promise<Buffer> {
    await once(socket, 'secureConnect');
    socket.write(request);
    const [first] = await once(socket, 'data');
    socket.pause();
    return first;
  }

  async function startReading(): Promise<TLSSocket> {
    const socket = connect(server.admin.tlsOptions);
    await readFirst(socket);
    return socket;
  }

  test('is whole, of the length that was told, over HTTP/1.1 and HTTP/2, compressed or not', async () => {
    const { tlsOptions } = server.admin;
    const plain = await getBytes(tlsOptions, path, {});
    assert.equal(plain.code, 200);
    assert.equal(plain.headers['content-type'], 'application/json');
    assert.equal(plain.headers['cache-control'], 'no-cache, private');
    assert.equal(Number(plain.headers['content-length']), plain.bytes.length);
    const { items } = JSON.parse(plain.bytes.toString('utf8'));
    assert.equal(items.length, count + 1);
    const packed = await getBytes(tlsOptions, path, { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.ok(gunzipSync(packed.bytes).equals(plain.bytes));
    using client = await Http2Client.open(tlsOptions);
    const stream = await client.open(path).untilClosed();
    assert.ok(stream.bytes.equals(plain.bytes));
  });

  test('shows the state at its beginning to one who reads slowly, and keeps nobody else waiting', async () => {
    const expected = await getBytes(server.admin.tlsOptions, path, {});
    const slow = connect(server.admin.tlsOptions);
    const first = await readFirst(slow);
    const data = { text: 'changed' };
    await server.admin.must('PUT', `${path}/map-${count - 1}`, { ...named(`map-${count - 1}`), data });
    assert.equal((await server.admin.list(path)).length, count + 1);
    const chunks: Buffer[] = [first];
    const all = () => Buffer.concat(chunks);
    const headLength = first.indexOf('\r\n\r\n') + 4;
    slow.on('data', (chunk: Buffer) => chunks.push(chunk));
    slow.resume();
    await waitFor('the whole list', () => all().length >= headLength + expected.bytes.length);
    assert.ok(all().subarray(headLength).equals(expected.bytes));
    slow.destroy();
  });

  test('ends when its reader goes, or when the server stops', async () => {
    const goes = await startReading();
    const stays = await startReading();
    goes.destroy();
    stays.on('error', () => undefined);
    await server.stop();
    stays.resume();
    await waitFor('the end of the connection', () => stays.destroyed);
  });
});
