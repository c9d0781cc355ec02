import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TlsSettings } from '../../../../src/agent/server/index.ts';
import { admin, ask, connect, startServer } from './running-server.ts';

const plain: TlsSettings = { minVersion: 'TLSv1.2', ciphers: undefined };

/** A server whose settings can be changed while it runs. */
async function changeable(first: TlsSettings) {
  let settings = first;
  const listeners = new Set<() => void>();
  const server = await startServer({
    tls: () => settings,
    onSettings(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  });
  return {
    ...server,
    change(next: TlsSettings) {
      settings = next;
      for (const listener of listeners) listener();
    },
  };
}

describe('how connections are secured', () => {
  test('is at least as the settings say', async () => {
    await using server = await startServer({ tls: () => ({ ...plain, minVersion: 'TLSv1.3' }) });
    await assert.rejects(connect(server.port, admin, { maxVersion: 'TLSv1.2' }));
    using client = await connect(server.port, admin);
    assert.equal(client.socket.getProtocol(), 'TLSv1.3');
  });

  test('is with the suites that are named, and those of TLS 1.3', async () => {
    const ciphers = 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384';
    await using server = await startServer({ tls: () => ({ ...plain, ciphers }) });
    using old = await connect(server.port, admin, { maxVersion: 'TLSv1.2' });
    assert.match(old.socket.getCipher().name, /AES256-GCM-SHA384$/);
    const others = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256';
    await assert.rejects(connect(server.port, admin, { maxVersion: 'TLSv1.2', ciphers: others }));
    using young = await connect(server.port, admin);
    assert.equal(young.socket.getProtocol(), 'TLSv1.3');
  });

  test('changes for new connections while the server runs; open ones go on', async () => {
    await using server = await changeable(plain);
    using before = await connect(server.port, admin, { maxVersion: 'TLSv1.2' });
    server.change({ ...plain, minVersion: 'TLSv1.3' });
    await assert.rejects(connect(server.port, admin, { maxVersion: 'TLSv1.2' }));
    assert.equal((await before.ask('GET', '/healthz')).code, 200);
    server.change(plain);
    using again = await connect(server.port, admin, { maxVersion: 'TLSv1.2' });
    assert.equal((await again.ask('GET', '/healthz')).code, 200);
  });
});

test('a server that is switched off takes no port', async () => {
  await using server = await changeable(plain);
  assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
  const off = await startServer({ enabled: false, port: server.port, waits: false });
  await off.end();
});
