import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { AgentRoute } from '../../../../src/agent/server/index.ts';
import { agentLimits } from '../../../../src/agent/server/service.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { admin, ask, connect, connectSilently, startServer } from './running-server.ts';

const quick = { handshakeMs: 300, headMs: 300, requestMs: 600, checkMs: 50, stallMs: 500 };

/** Sends a little every now and then, until it is disposed of. */
function dripping(send: () => void): Disposable {
  const timer = setInterval(send, 50);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const body: AgentRoute = {
  path: '/body',
  subresource: 'proxy',
  methods: { POST: ({ raw, reply }) => reply.send(String(raw.body)) },
};

function large(bytes: number): AgentRoute {
  return {
    path: '/large',
    subresource: 'proxy',
    methods: { GET: ({ reply }) => reply.send(Buffer.alloc(bytes)) },
  };
}

describe('a client that is slow', () => {
  test('with its handshake is cut off', async () => {
    await using server = await startServer({ limits: quick });
    const silent = await connectSilently(server.port);
    silent.resume();
    await once(silent, 'close');
    const half = await connectSilently(server.port);
    half.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    half.resume();
    await once(half, 'close');
  });

  test('with its head is cut off', async () => {
    await using server = await startServer({ limits: quick });
    using client = await connect(server.port, admin);
    client.send('GET /healthz HTTP/1.1\r\n');
    using _drip = dripping(() => client.send('X: y\r\n'));
    assert.equal((await client.answer()).code, 408);
    await client.closed;
  });

  test('with its body is cut off', async () => {
    await using server = await startServer({ limits: quick, more: [body] });
    using client = await connect(server.port, admin);
    client.send('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    using _drip = dripping(() => client.send('x'));
    await client.closed;
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
  });

  test('with reading is cut off once nothing moves any more', async () => {
    await using server = await startServer({ limits: quick, more: [large(64 * 1024 * 1024)] });
    using client = await connect(server.port, admin);
    client.socket.pause();
    const cutOff = once(client.socket, 'close');
    client.send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await systemClock.sleep(quick.stallMs * 3);
    client.socket.resume(); // what the kernel holds comes yet
    await cutOff;
    assert.ok(client.socket.bytesRead < 60 * 1024 * 1024);
  });

  test('with reading is not cut off while it reads', async () => {
    const bytes = 4 * 1024 * 1024;
    await using server = await startServer({ limits: quick, more: [large(bytes)] });
    using client = await connect(server.port, admin);
    const { socket } = client;
    client.send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    using _taking = dripping(() => {
      socket.resume();
      setTimeout(() => socket.pause(), 10);
    });
    const { code, body } = await client.answer();
    assert.deepEqual([code, body.length], [200, bytes]);
  });

  test('with nothing to say in an answer that takes long is waited for', async () => {
    const { promise, resolve } = Promise.withResolvers<{ path: string }>();
    await using server = await startServer({ limits: quick, checkpoint: () => promise });
    using client = await connect(server.port, admin);
    client.send('POST /checkpoint/a/b/c HTTP/1.1\r\nHost: a\r\n\r\n');
    await systemClock.sleep(quick.requestMs * 2);
    resolve({ path: '/late.tar' });
    assert.equal((await client.answer()).code, 200);
  });
});

describe('a client that sends too much', () => {
  test('in its head is told so', async () => {
    await using server = await startServer();
    for (const head of [
      `X: ${'x'.repeat(20_000)}`,
      Array.from({ length: 5000 }, (_, n) => `X-${n}: y`).join('\r\n'),
    ]) {
      using client = await connect(server.port, admin);
      client.send(`GET /healthz HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
      assert.equal((await client.answer()).code, 431);
      await client.closed;
    }
  });

  test('in its body is told so, with a length and in chunks', async () => {
    await using server = await startServer({ more: [body] });
    using client = await connect(server.port, admin);
    client.send('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n');
    assert.equal((await client.answer()).code, 413);
    using other = await connect(server.port, admin);
    other.send('POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`;
    other.send(chunk + chunk);
    assert.equal((await other.answer()).code, 413);
  });

  test('as many requests ahead is cut off', async () => {
    await using server = await startServer({ checkpoint: () => new Promise(() => undefined) });
    using client = await connect(server.port, admin);
    client.send('POST /checkpoint/a/b/c HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(200));
    await client.closed;
    assert.ok(server.asked.length <= 17, String(server.asked.length));
    for (const { cancel } of server.asked) await waitFor('the cancel', () => cancel.aborted);
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
  });

  test('some requests ahead gets its answers in order', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin);
    client.send('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await client.answer()).code, 200);
    assert.equal((await client.answer()).code, 404);
  });

  test('of new keys within a connection of TLS 1.2 gets none', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin, { maxVersion: 'TLSv1.2' });
    assert.equal((await client.ask('GET', '/healthz')).code, 200);
    const refused = await new Promise<unknown>((resolve) => {
      client.socket.once('error', resolve);
      client.socket.once('close', () => resolve('closed'));
      client.socket.renegotiate({}, (error) => resolve(error ?? 'renegotiated'));
    });
    assert.notEqual(refused, 'renegotiated');
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
  });
});

test('of those who say nothing so many are open, and a client that may ask gets in', async () => {
  await using server = await startServer();
  const silent: Socket[] = [];
  try {
    while (silent.length < agentLimits.maxUnauthenticated + 50)
      silent.push((await connectSilently(server.port)).resume());
    await waitFor('those beyond it to be cut', () => silent.filter(({ closed }) => closed).length === 50);
    const gotIn = async () => (await ask(server.port, 'GET', '/healthz', admin).catch(() => undefined))?.code;
    await waitFor('the administrator to get in', async () => (await gotIn()) === 200);
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

test('connections beyond the most are closed, and room is made as others go', {
  timeout: 60_000,
}, async () => {
  const most = 1000;
  const limits = { handshakeMs: 120_000, handshakeIdleMs: 120_000, maxUnauthenticated: most };
  await using server = await startServer({ limits });
  using kept = await connect(server.port, admin);
  const silent: Socket[] = [];
  try {
    while (silent.length < most - 1) silent.push(await connectSilently(server.port));
    const beyond = await connectSilently(server.port);
    beyond.resume();
    await once(beyond, 'close');
    assert.equal((await kept.ask('GET', '/healthz')).code, 200, 'whoever is in is served');
    for (const socket of silent.splice(0, 10)) socket.destroy();
    await waitFor('room', () => ask(server.port, 'GET', '/healthz', admin).catch(() => undefined));
  } finally {
    for (const socket of silent) socket.destroy();
  }
});
