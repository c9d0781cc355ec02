import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { connect, createServer } from 'node:tls';
import { createAuthority, issuePair } from '../../../src/base/x509/index.ts';
import { SharedStreams } from '../../../src/client/shared-streams.ts';

/** No settings of its own, and the client's are accepted: two frames of HTTP/2 (RFC 9113, 6.5). */
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]);

function portOf(address: AddressInfo | string | null): number {
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

/** A server that agrees on HTTP/2 and says nothing more, as over a connection that is dead. */
async function startSilent() {
  const now = Date.now();
  const authority = await createAuthority('test', 3_600_000, now);
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const subject = { commonName: 'server', organizations: [] };
  const pair = await issuePair(authority, { subject, names, use: 'server', lifetimeMs: 3_600_000, now });
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...pair, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(settings);
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server.address());
  return {
    sockets,
    origin: `https://127.0.0.1:${port}`,
    async dial(): Promise<TLSSocket> {
      const socket = connect({
        host: '127.0.0.1',
        port,
        ca: authority.cert,
        ALPNProtocols: ['h2'],
      });
      await once(socket, 'secureConnect');
      return socket;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a connection without a sign of life is given up, with its requests, and the next one is another', async () => {
  await using server = await startSilent();
  const times = { silentMs: 60_000, noResponseMs: 20, signMs: 50 };
  const shared = new SharedStreams(server.origin, server.dial, await server.dial(), times);
  const request = { path: '/', headers: {}, idleTimeoutMs: 0, signal: new AbortController().signal };
  await assert.rejects(shared.open(request), /no sign of life/);
  await assert.rejects(shared.open(request), /no sign of life/);
  assert.equal(server.sockets.size, 2);
  shared.destroy();
});
