import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectPlain } from 'node:net';
import { describe, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { reportAuthenticated } from '../../../../src/base/https/index.ts';
import { sourceOf } from '../../../../src/base/https/newcomers.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { alternativeNames, issuePair } from '../../../../src/base/x509/index.ts';
import { waitFor } from '../../../support/index.ts';
import { Http2Client } from '../../apiserver/http/http2-client.ts';
import { ca, get, startServer } from './running-server.ts';

/** A server where GET /me authenticates the connection, and time passes only by `pass`. */
async function startGuarded(maxUnauthenticated: number) {
  let passedMs = 0;
  const running = await startServer({
    clock: { ...systemClock, monotonicMs: () => passedMs },
    limits: { maxUnauthenticated },
    http2: { defaultContentType: 'text/plain', isPreferred: true },
    addRoutes: (app) =>
      app.get('/me', ({ raw: { socket } }, reply) => {
        if (socket instanceof TLSSocket) reportAuthenticated(socket);
        return reply.send('me');
      }),
  });
  const pass = (ms: number) => {
    passedMs += ms;
  };
  return { ...running, pass };
}

describe('connections whose clients are not authenticated', () => {
  test('give way where there are most of them, the oldest first: a client elsewhere gets in', async () => {
    await using running = await startGuarded(3);
    const from = (localAddress: string) => running.connect({ localAddress });
    using first = await from('127.0.0.2');
    using second = await from('127.0.0.2');
    using third = await from('127.0.0.2');
    running.pass(1000);
    using other = await from('127.0.0.3');
    await first.untilClosed();
    using another = await from('127.0.0.2');
    await second.untilClosed();
    for (const client of [third, other, another]) assert.equal(await client.exchange(get('/quick')), 200);
  });

  test('are given a second: until then the newest gives way, and what has been begun is finished', async () => {
    await using running = await startGuarded(2);
    const from = (localAddress: string) => running.connect({ localAddress });
    using first = await from('127.0.0.2');
    using second = await from('127.0.0.2');
    running.pass(999);
    using other = await from('127.0.0.3');
    await second.untilClosed();
    for (const client of [first, other]) assert.equal(await client.exchange(get('/quick')), 200);
  });

  test('are cut without a request before those with one', async () => {
    await using running = await startGuarded(2);
    using busy = await running.connect();
    const answer = busy.exchange(get('/slow'));
    await running.slowAsked;
    using silent = await running.connect();
    running.pass(1000);
    using last = await running.connect();
    await silent.untilClosed();
    running.release();
    assert.equal(await answer, 200);
    assert.equal(await last.exchange(get('/quick')), 200);
  });

  test('are spared while a request over HTTP/2 is answered', async () => {
    await using running = await startGuarded(1);
    using busy = await Http2Client.open(running.tlsOptions);
    const answer = busy.send('GET', '/slow');
    await running.slowAsked;
    running.pass(1000);
    await assert.rejects(running.connect(), 'the newer one gives way');
    running.release();
    assert.equal((await answer).code, 200);
  });

  test('count while they are in the middle of a handshake, too', async () => {
    await using running = await startGuarded(1);
    const plain = connectPlain({ host: '127.0.0.1', port: running.port });
    plain.on('error', () => undefined).resume();
    await waitFor('the connection', () => plain.readyState === 'open');
    const accepted = promisify(running.server.app.server.getConnections.bind(running.server.app.server));
    await waitFor('the server to have it', async () => (await accepted()) === 1);
    running.pass(1000);
    using client = await running.connect();
    await waitFor('the one that says nothing to be cut', () => plain.closed);
    assert.equal(await client.exchange(get('/quick')), 200);
  });

  test('are no longer counted once they have a certificate that is trusted, or their client is authenticated', async () => {
    await using running = await startGuarded(1);
    using known = await running.connect();
    assert.equal(await known.exchange(get('/me')), 200);
    const pair = await issuePair(ca, {
      subject: { commonName: 'alice', organizations: [] },
      names: alternativeNames([]),
      use: 'client',
      lifetimeMs: 3600_000,
      now: Date.now(),
    });
    using certified = await running.connect(pair);
    assert.equal(await certified.exchange(get('/quick')), 200); // so the server has its certificate
    const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: ca.cert });
    await new Promise<void>((resolve, reject) => {
      session.request({ ':path': '/me' }).on('end', resolve).on('error', reject).resume().end();
    });
    for (let count = 0; count < 3; count += 1) {
      running.pass(1000);
      using stranger = await running.connect();
      assert.equal(await stranger.exchange(get('/quick')), 200);
    }
    assert.equal(await known.exchange(get('/quick')), 200);
    assert.equal(await certified.exchange(get('/quick')), 200);
    assert.equal(session.closed || session.destroyed, false);
    session.destroy();
  });
});

test('a source is an address of IPv4, or the network of an address of IPv6', () => {
  for (const [address, source] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1::6', '2001:db8:1:0'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
    ['::1', '0:0:0:0'],
    [undefined, '0:0:0:0'],
  ] as const) {
    assert.equal(sourceOf(address), source, address);
  }
});
