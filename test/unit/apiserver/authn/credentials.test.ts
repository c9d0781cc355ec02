import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { connect } from 'node:tls';
import { foreignMaster, leases, nodes, shiftedClock, startServer } from '../support/index.ts';

const hourMs = 3600_000;
const clock = shiftedClock();
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());

describe('a certificate', () => {
  test('of another authority with the same name is nobody', async () => {
    const foreign = server.holder(await foreignMaster());
    await foreign.refused('Unauthorized', 'GET', nodes);
    const { reply } = await foreign.refused('Unauthorized', 'GET', '/api');
    assert.match(String(reply.headers['www-authenticate']), /./);
    assert.equal((await foreign.request('GET', '/healthz')).code, 200);
  });

  test('that has ended is nobody', async () => {
    const ended = server.holder(
      await server.issue({
        organizations: ['system:masters'],
        now: Date.now() - 2 * hourMs,
        lifetimeMs: hourMs,
      }),
    );
    await ended.refused('Unauthorized', 'GET', nodes);
  });

  test('for servers does not make a client', async () => {
    const serving = server.holder(
      await server.issue({ commonName: 'system:node:a', organizations: ['system:masters'], use: 'server' }),
    );
    await serving.refused('Unauthorized', 'GET', nodes);
  });

  test('without a name is nobody; a group alone opens nothing', async () => {
    const nameless = server.holder(await server.issue({ commonName: '', organizations: ['system:masters'] }));
    await nameless.refused('Unauthorized', 'GET', nodes);
  });

  test('a token is no credential here', async () => {
    const headers = { authorization: 'Bearer abc' };
    await server.nobody.refused('Unauthorized', 'GET', nodes, { headers });
    assert.equal((await server.admin.request('GET', nodes, { headers })).code, 200);
  });

  test('is needed for everything but health and version', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/version', '/healthz/ping', '/readyz?verbose']) {
      assert.equal((await server.nobody.request('GET', path)).code, 200, path);
      assert.equal((await server.nobody.request('HEAD', path)).text, '', path);
      await server.nobody.refused('Unauthorized', 'DELETE', path);
      await server.admin.refused('MethodNotAllowed', 'DELETE', path);
    }
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/api/v1',
      '/metrics',
      '/healthz/nothing',
      '/versions',
      '/nothing',
    ]) {
      await server.nobody.refused('Unauthorized', 'GET', path);
    }
  });
});

describe('keep-alive', () => {
  test('outlives no credential: neither a connection nor a watch on it', async () => {
    const pair = await server.issue({
      commonName: 'brief',
      organizations: ['system:masters'],
      lifetimeMs: hourMs,
    });
    const brief = server.holder(pair);
    using connection = await brief.raw();
    const request = `GET ${nodes} HTTP/1.1\r\nhost: x\r\n\r\n`;
    assert.equal(await connection.exchange(request), 200);
    clock.shiftMs = hourMs - 5000;
    assert.equal(await connection.exchange(request), 200);
    clock.shiftMs = hourMs - 1500;
    using watch = await brief.watch(leases('default'));
    await watch.ended;
    assert.ok(watch.isComplete);
    clock.shiftMs = hourMs + 1000;
    assert.equal(await connection.exchange(request), 401);
    assert.equal(await connection.exchange(request), 401);
    clock.shiftMs = 0;
  });

  test('a resumed TLS session is still the same person, and nobody stays nobody', async () => {
    for (const [who, code] of [
      [server.admin, 200],
      [server.nobody, 401],
    ] as const) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const session = await sessionOf(who.tlsOptions, maxVersion);
        const { cert: _cert, key: _key, ...bare } = who.tlsOptions;
        const reply = await answerOn({ ...bare, maxVersion, session });
        assert.match(reply, new RegExp(`^HTTP/1.1 ${code}`), maxVersion);
      }
    }
  });
});

async function sessionOf(options: ConnectionOptions, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const socket = connect({ ...options, maxVersion });
  socket.on('error', () => undefined);
  socket.on('session', resolve);
  socket.write(`GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`);
  socket.resume();
  const session = await promise;
  socket.destroy();
  return session;
}

async function answerOn(options: ConnectionOptions): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(options);
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  socket.once('close', () => resolve(text));
  socket.write(`GET ${nodes} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  return await promise;
}
