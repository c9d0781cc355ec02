import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { serverLimits } from '../../../../src/agent/server/limits.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { freePort, waitFor } from '../../../support/index.ts';
import { admin, ask, cluster, connect, connectSilently, servingBy, startServer } from './running-server.ts';

const path = '/checkpoint/default/web/app';

async function failureOf(starting: Promise<unknown>): Promise<ExitError> {
  const error = await starting.then(
    () => assert.fail('it serves'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ExitError, String(error));
  return error;
}

describe('a port', () => {
  test('that is taken ends the agent, and the message says what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    assert.ok(typeof address === 'object' && address !== null);
    try {
      const error = await failureOf(startServer({ port: address.port }));
      assert.equal(error.exitCode, exitCodes.address);
      assert.equal(
        error.message,
        `the agent cannot listen on 127.0.0.1:${address.port}: another process uses that port; choose another with --port`,
      );
    } finally {
      other.close();
    }
  });

  test('of an address that this machine has not ends the agent', async () => {
    const error = await failureOf(startServer({ address: '192.0.2.99' }));
    assert.match(error.message, /192\.0\.2\.99:0: this machine has no such address; .*--address/);
  });

  test('is free again after the stop', async () => {
    const port = await freePort();
    for (const _start of [1, 2]) {
      await using server = await startServer({ port });
      assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
    }
  });
});

describe('without a certificate', () => {
  test('it is ready, holds the port, and serves once there is one', async () => {
    await using server = await startServer({ bare: true });
    await assert.rejects(connect(server.port, admin), /handshake|ECONNRESET|disconnected/i);
    assert.doesNotMatch(server.log(), /the agent serves/);
    server.serving.set(await servingBy(cluster));
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
    assert.match(server.log(), /the agent serves/);
  });

  test('its stop comes to an end, and the port is free again', async () => {
    await using server = await startServer({ bare: true });
    await server.end();
    await assert.rejects(connectSilently(server.port), { code: 'ECONNREFUSED' });
  });
});

describe('a peer', () => {
  test('that speaks TLS 1.1 is not served', async () => {
    await using server = await startServer();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await assert.rejects(connect(server.port, admin, old));
    using two = await connect(server.port, admin, { maxVersion: 'TLSv1.2' });
    assert.equal((await two.ask('GET', '/healthz')).code, 200);
  });

  test('that speaks no HTTP is told so in plain text', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin);
    client.send('HELO example\r\n\r\n');
    const { code, headers, body } = await client.answer();
    assert.deepEqual(
      [code, headers['content-type'], body],
      [400, 'text/plain; charset=utf-8', '400 Bad Request'],
    );
    await client.closed;
  });

  test('that sends a head without end is cut off', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin);
    client.send(`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    assert.equal((await client.answer()).code, 431);
    await client.closed;
  });

  test('that sends a head slowly is cut off, and nobody else waits for it', async () => {
    assert.ok(serverLimits.headMs + serverLimits.checkMs <= 12_000, 'where nothing else is said');
    await using server = await startServer({ limits: { headMs: 500, checkMs: 50 } });
    using client = await connect(server.port, admin);
    client.send('GET /healthz HTTP/1.1\r\n');
    const drip = setInterval(() => client.send('X: y\r\n'), 25);
    try {
      assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
      assert.equal((await client.answer()).code, 408);
      await client.closed;
    } finally {
      clearInterval(drip);
    }
  });

  test('keeps its connection between requests', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin);
    for (let request = 0; request < 3; request += 1) {
      const { code, headers } = await client.ask('GET', '/healthz');
      assert.equal(code, 200);
      assert.equal(headers['keep-alive'], 'timeout=120');
    }
  });
});

describe('the stop', () => {
  test('is not held up by connections that do nothing, in whatever state they are', async () => {
    await using server = await startServer();
    const silent = await connectSilently(server.port);
    using shaken = await connect(server.port, admin);
    using idle = await connect(server.port, admin);
    await idle.ask('GET', '/healthz');
    using half = await connect(server.port, admin);
    half.send('POST /checkpoint/a/b/c HTTP/1.1\r\nHost: a\r\n');
    const closed = once(silent, 'close');
    silent.resume();
    const beginMs = performance.now();
    await server.end();
    assert.ok(performance.now() - beginMs < 4000);
    await Promise.all([closed, shaken.closed, idle.closed, half.closed]);
  });

  test('refuses what comes on a connection that is still open', async () => {
    const answers = Promise.withResolvers<{ path: string }>();
    await using server = await startServer({ checkpoint: () => answers.promise });
    using client = await connect(server.port, admin);
    const request = `POST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    client.send(request);
    await waitFor('the checkpoint', () => server.asked[0]);
    const ended = server.end();
    client.send(request); // behind the first one
    answers.resolve({ path: '/checkpoints/late.tar' });
    assert.equal((await client.answer()).code, 200, 'what is done by then is told');
    await client.closed;
    await ended;
    assert.equal(server.asked.length, 1);
    await assert.rejects(ask(server.port, 'GET', '/healthz', admin));
  });

  test('comes to an end when it is asked for twice, and the port is free again', async () => {
    await using server = await startServer();
    await Promise.all([server.end(), server.end()]);
    await assert.rejects(connectSilently(server.port), { code: 'ECONNREFUSED' });
  });
});
