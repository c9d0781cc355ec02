import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { describe, test } from 'node:test';
import { chooseProtocol } from '../../../../src/base/https/http2.ts';
import { HttpsServer } from '../../../../src/base/https/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { Http2Client } from '../../apiserver/http/http2-client.ts';
import { ca, createCa, credentials, get, startServer } from './running-server.ts';

/** How long something takes, in milliseconds. */
async function duration(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

describe('what is no HTTP request', () => {
  test('is answered in plain text, and its connection closed', async () => {
    await using running = await startServer();
    using client = await running.connect();
    client.write('HELO example\r\n\r\n');
    const received = await client.untilClosed();
    assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\ncontent-type: text\/plain; charset=utf-8\r\n/);
    assert.match(received, /\r\n\r\n400 Bad Request$/);
  });

  test('is answered in the form of the server, with the status of its fault', async () => {
    await using running = await startServer({
      limits: { maxHeadBytes: 1000, headMs: 200, checkMs: 50 },
      formatClientError: (code) => ({ contentType: 'application/json', body: `{"ü":${code}}` }),
    });
    const faults: [string, number][] = [
      ['HELO example\r\n\r\n', 400],
      ['GET /quick HTTP/1.1\r\n', 408],
      [`GET /quick HTTP/1.1\r\nx: ${'y'.repeat(2000)}\r\n\r\n`, 431],
    ];
    for (const [bytes, code] of faults) {
      using client = await running.connect();
      client.write(bytes);
      const received = Buffer.from(await client.untilClosed(), 'latin1').toString();
      assert.ok(received.startsWith(`HTTP/1.1 ${code} `), received);
      assert.ok(received.includes('content-length: 10\r\n') && received.endsWith(`{"ü":${code}}`), received);
    }
  });

  test('is cut off where it is not even TLS', async () => {
    await using running = await startServer();
    const socket = connectPlain({ host: '127.0.0.1', port: running.port });
    socket.on('error', () => undefined);
    socket.write(get('/quick'));
    socket.resume();
    await waitFor('the end of the connection', () => socket.closed);
    using client = await running.connect();
    assert.equal(await client.exchange(get('/quick')), 200, 'others are served');
  });
});

describe('the stop', () => {
  test('cuts at once what has no request, whatever its state', async () => {
    await using running = await startServer();
    const { server, port, connect } = running;
    using idle = await connect();
    assert.equal(await idle.exchange(get('/quick')), 200);
    using fresh = await connect();
    using half = await connect();
    half.write('GET /quick HTTP/1.1\r\n');
    const silent = connectPlain({ host: '127.0.0.1', port });
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    silent.resume();
    assert.ok((await duration(server.close(60_000))) < 5000);
    await Promise.all([idle.untilClosed(), fresh.untilClosed(), half.untilClosed()]);
    await waitFor('the silent one to be closed', () => silent.closed);
  });

  test('waits for a running request, and closes its connection after the answer', async () => {
    await using running = await startServer();
    using client = await running.connect();
    client.write(get('/slow'));
    await running.slowAsked;
    const closed = running.server.close(60_000);
    running.release();
    await closed;
    assert.match(await client.untilClosed(), /^HTTP\/1\.1 200 .*slow$/s);
  });

  test('cuts requests that are not answered in time, and not earlier', async () => {
    await using running = await startServer();
    const { server, connect } = running;
    using client = await connect();
    client.write(get('/never'));
    using other = await connect();
    assert.equal(await other.exchange(get('/quick')), 200);
    const tookMs = await duration(server.close(300));
    assert.ok(tookMs >= 290 && tookMs < 5000, `${tookMs} ms`);
    await client.untilClosed();
  });

  test('may be asked for twice', async () => {
    await using running = await startServer();
    const { server } = running;
    await Promise.all([server.close(1000), server.close(1000)]);
  });
});

describe('other credentials', () => {
  test('serve new connections, and open ones go on while every authority is still trusted', async () => {
    const other = await createCa('other-ca');
    await using running = await startServer();
    using before = await running.connect();
    running.server.setCredentials({ ...credentials, clientCa: `${other.cert}\n${ca.cert}` });
    assert.equal(await before.exchange(get('/quick')), 200);
    running.server.setCredentials({ ...credentials, clientCa: other.cert });
    await before.untilClosed();
    using after = await running.connect();
    assert.equal(await after.exchange(get('/quick')), 200);
  });

  test('let a server begin that had none', async () => {
    await using running = await startServer({ credentials: undefined });
    await assert.rejects(running.connect());
    running.server.setCredentials(credentials, { minVersion: 'TLSv1.3', ciphers: undefined });
    await assert.rejects(running.connect({ maxVersion: 'TLSv1.2' }));
    using client = await running.connect();
    assert.equal(await client.exchange(get('/quick')), 200);
  });
});

describe('limits', () => {
  test('cut off a handshake that takes too long, and no connection that has done its own', async () => {
    await using running = await startServer({ limits: { handshakeMs: 300 } });
    using client = await running.connect();
    const slow = connectPlain({ host: '127.0.0.1', port: running.port });
    slow.on('error', () => undefined);
    slow.resume();
    await waitFor('the slow one to be cut off', () => slow.closed);
    await systemClock.sleep(400);
    assert.equal(await client.exchange(get('/quick')), 200);
  });

  test('cut off who pipelines too much', async () => {
    await using running = await startServer({ limits: { maxPipelined: 3 } });
    using allowed = await running.connect();
    allowed.write(get('/quick').repeat(3));
    await waitFor('three answers', () => allowed.codes.length === 3);
    using client = await running.connect();
    client.write(get('/never').repeat(4));
    await client.untilClosed();
  });

  test('hold for bodies', async () => {
    await using running = await startServer({ limits: { maxBodyBytes: 4 } });
    using client = await running.connect();
    client.write('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n12345');
    assert.match(await client.untilClosed(), /^HTTP\/1\.1 413 .*FST_ERR_CTP_BODY_TOO_LARGE$/s);
  });
});

describe('HTTP/2', () => {
  test('is not offered by default', async () => {
    await using running = await startServer();
    await assert.rejects(Http2Client.open(running.tlsOptions));
  });

  const choices: [offered: string[], isPreferred: boolean, chosen: string | undefined][] = [
    [['h2', 'http/1.1'], true, 'h2'],
    [['http/1.1', 'h2'], true, 'h2'],
    [['h2', 'http/1.1'], false, 'http/1.1'],
    [['h2'], false, 'h2'],
    [['http/1.1'], true, 'http/1.1'],
    [['spdy/3'], true, undefined],
  ];
  for (const [offered, isPreferred, chosen] of choices) {
    test(`${isPreferred ? '' : 'not '}preferred, is it of ${offered.join(', ')}: ${chosen}`, () =>
      assert.equal(chooseProtocol(offered, isPreferred), chosen));
  }

  test('is for those alone that speak nothing else, unless it is preferred', async () => {
    await using running = await startServer({
      http2: { defaultContentType: 'text/x-test', isPreferred: false },
    });
    using client = await Http2Client.open(running.tlsOptions);
    assert.equal((await client.send('POST', '/echo', 'abc')).text, 'text/x-test abc');
    using both = await running.connect({ ALPNProtocols: ['h2', 'http/1.1'] });
    assert.equal(await both.exchange(get('/quick')), 200);
  });

  test('reads a body of which nothing is said as what the server takes it for', async () => {
    await using running = await startServer({
      http2: { defaultContentType: 'text/x-test', isPreferred: true },
    });
    using client = await Http2Client.open(running.tlsOptions);
    assert.equal((await client.send('POST', '/echo', 'abc')).text, 'text/x-test abc');
    using old = await running.connect({ ALPNProtocols: ['http/1.1'] });
    assert.equal(await old.exchange(get('/quick')), 200, 'HTTP/1.1 on the same port');
  });

  test('ends in order at the stop', async () => {
    await using running = await startServer({
      http2: { defaultContentType: 'text/plain', isPreferred: true },
    });
    using client = await Http2Client.open(running.tlsOptions);
    assert.equal((await client.send('GET', '/quick')).code, 200);
    await running.server.close(60_000);
    await waitFor('the session to be closed', () => client.session.destroyed);
    assert.equal(client.goaway, 0);
  });
});

test('a port is known only while the server listens', () => {
  const server = new HttpsServer({ onError: (_error, _request, reply) => reply.send() });
  assert.throws(() => server.port, /listens on no port/);
});
