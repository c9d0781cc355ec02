import assert from 'node:assert/strict';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { before, describe, test } from 'node:test';
import { nodeKind } from '../../../src/api/index.ts';
import { ExitError } from '../../../src/base/index.ts';
import type { Pair } from '../../../src/base/x509/index.ts';
import type { ConnectionFailure } from '../../../src/client/errors.ts';
import type { ClientOptions } from '../../../src/client/index.ts';
import { ApiClient, ConnectionError, createClient } from '../../../src/client/index.ts';
import { freePort, waitFor } from '../../support/index.ts';
import type { TestServer } from './tls-server.ts';
import { clientPair, makeAuthority, sendJson, servingPair, startServer } from './tls-server.ts';

const hourMs = 3600_000;
const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a' } };

let authority: Pair;
let other: Pair;
let pair: Pair;

before(async () => {
  authority = await makeAuthority();
  other = await makeAuthority();
  pair = await servingPair(authority);
});

function healthy(given: Partial<{ pair: Pair; clientCa: string }> = {}): Promise<TestServer> {
  return startServer({ pair, ...given }, (_request, response) => sendJson(response, 200, node));
}

async function assertFails(
  options: Partial<ClientOptions> & { server: string },
  reason: ConnectionFailure,
  message: RegExp,
): Promise<void> {
  await using client = createClient({ ca: authority.cert, ...options });
  await assert.rejects(client.get(nodeKind, 'a'), (error) => {
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    assert.ok(error.message.includes(options.server), 'it says which server');
    return true;
  });
}

/** A server that does with a connection what `act` says; no TLS. */
async function bareServer(act: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    act(socket);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a server is trusted', () => {
  test('with a certificate of the expected authority for its address', async () => {
    await using server = await healthy();
    await using client = createClient({ server: `${server.url}/`, ca: authority.cert });
    assert.deepEqual(await client.get(nodeKind, 'a'), node);
    assert.equal(client.server, server.url);
  });

  test('by a name of its own, and by an address as its name', async () => {
    for (const serverName of ['node-a', '10.9.8.7']) {
      await using server = await healthy({ pair: await servingPair(authority, { serves: [serverName] }) });
      await using client = createClient({ server: server.url, ca: authority.cert, serverName });
      assert.deepEqual(await client.get(nodeKind, 'a'), node);
    }
  });

  test('by any of several authorities', async () => {
    await using server = await healthy();
    await using client = createClient({ server: server.url, ca: other.cert + authority.cert });
    assert.deepEqual(await client.get(nodeKind, 'a'), node);
  });

  test('never because the environment says so', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await using server = await healthy();
      await assertFails({ server: server.url, ca: other.cert }, 'untrusted', /another authority/);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('a server is not trusted', () => {
  test('with a certificate of another authority', async () => {
    await using server = await healthy();
    await assertFails({ server: server.url, ca: other.cert }, 'untrusted', /of another authority/);
    assert.equal(server.received.length, 0);
  });

  test('with a certificate for other names', async () => {
    await using server = await healthy({ pair: await servingPair(authority, { serves: ['node-b'] }) });
    await assertFails({ server: server.url }, 'untrusted', /is for other names.*127\.0\.0\.1/);
    await assertFails(
      { server: server.url, serverName: 'node-a' },
      'untrusted',
      /is for other names.*node-a/,
    );
    assert.equal(server.received.length, 0);
  });

  test('with a certificate that has expired', async () => {
    const old = await makeAuthority(Date.now() - 10 * hourMs);
    const expired = await servingPair(old, { now: Date.now() - 2 * hourMs });
    await using server = await healthy({ pair: expired });
    await assertFails(
      { server: server.url, ca: old.cert },
      'untrusted',
      /has expired, by this machine's clock/,
    );
  });

  test('with a certificate from the future', async () => {
    const future = await servingPair(authority, { now: Date.now() + hourMs });
    await using server = await healthy({ pair: future });
    await assertFails({ server: server.url }, 'untrusted', /is not valid yet/);
  });

  test('with a certificate that is for clients', async () => {
    await using server = await healthy({ pair: await servingPair(authority, { use: 'client' }) });
    await assertFails({ server: server.url }, 'untrusted', /not accepted.*purpose/);
  });
});

describe('a client shows who it is', () => {
  test('by its certificate', async () => {
    await using server = await healthy({ clientCa: authority.cert });
    await using client = createClient({
      server: server.url,
      ca: authority.cert,
      ...(await clientPair(authority)),
    });
    assert.deepEqual(await client.get(nodeKind, 'a'), node);
  });

  test('by a token', async () => {
    await using server = await healthy();
    await using client = createClient({ server: server.url, ca: authority.cert, token: 'abc.def' });
    await client.get(nodeKind, 'a');
    assert.equal(server.received[0]?.headers.authorization, 'Bearer abc.def');
    assert.match(server.received[0]?.headers['user-agent'] ?? '', /^nodeward\/\d/);
  });

  test('and is hung up on by a server that does not believe it', async () => {
    await using server = await healthy({ clientCa: authority.cert });
    for (const credentials of [{}, await clientPair(other)]) {
      await using client = createClient({ server: server.url, ca: authority.cert, ...credentials });
      await assert.rejects(client.get(nodeKind, 'a'), ConnectionError);
    }
    assert.equal(server.received.length, 0);
  });
});

describe('a server that is not there', () => {
  test('refuses', async () => {
    await assertFails(
      { server: `https://127.0.0.1:${await freePort()}` },
      'refused',
      /nothing listens there/,
    );
  });

  test('has no name', async () => {
    await assertFails({ server: 'https://no-such-host.invalid:6443' }, 'unknownHost', /cannot be found/);
  });

  test('speaks no TLS', async () => {
    await using server = await bareServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await assertFails({ server: server.url }, 'unintelligible', /does not speak TLS/);
  });

  test('hangs up at once', async () => {
    await using server = await bareServer((socket) => socket.destroy());
    await assertFails({ server: server.url }, 'broken', /the connection to .* broke/);
  });

  test('accepts and never says anything', async () => {
    await using server = await bareServer(() => undefined);
    const message = /did not answer within 0\.2 s/;
    await assertFails({ server: server.url, connectTimeoutMs: 200 }, 'timeout', message);
    await assertFails({ server: server.url, timeoutMs: 200 }, 'timeout', message);
  });
});

describe('patience', () => {
  test('ends when a server is slow to answer, or in the middle of its answer', async () => {
    for (const begin of [false, true]) {
      await using server = await startServer({ pair }, (_request, response) => {
        if (begin) response.writeHead(200).write('{"kind":');
      });
      const options = { server: server.url, timeoutMs: 200 };
      await assertFails(options, 'timeout', /did not answer within 0\.2 s/);
      await waitFor('the connection to be given up', () => server.open === 0);
    }
  });

  test('may differ from call to call', async () => {
    await using server = await startServer({ pair }, () => undefined);
    await using client = createClient({ server: server.url, ca: authority.cert });
    await assert.rejects(client.get(nodeKind, 'a', { timeoutMs: 150 }), /within 0\.15 s/);
  });

  test('counts while a connection is waited for', async () => {
    await using server = await startServer({ pair }, () => undefined);
    await using client = createClient({ server: server.url, ca: authority.cert, connections: 1 });
    const first = assert.rejects(client.get(nodeKind, 'a', { timeoutMs: 400 }), ConnectionError);
    let isFirstOver = false;
    void first.then(() => {
      isFirstOver = true;
    });
    await assert.rejects(client.get(nodeKind, 'b', { timeoutMs: 150 }), /within 0\.15 s/);
    assert.ok(!isFirstOver);
    await first;
    assert.deepEqual(
      server.received.map(({ path }) => path),
      ['/api/v1/nodes/a'],
    );
  });

  test('ends with the signal of the caller, with its reason', async () => {
    await using server = await startServer({ pair }, () => undefined);
    await using client = createClient({ server: server.url, ca: authority.cert });
    const reason = new Error('enough');
    const asked = client.get(nodeKind, 'a', { signal: AbortSignal.abort(reason) });
    await assert.rejects(asked, reason);
    assert.equal(server.connections, 0);
    const controller = new AbortController();
    const second = client.get(nodeKind, 'a', { signal: controller.signal });
    const rejected = assert.rejects(second, reason);
    await waitFor('the request', () => server.received.length === 1);
    controller.abort(reason);
    await rejected;
  });
});

describe('connections', () => {
  test('are kept between requests', async () => {
    await using server = await healthy();
    await using client = createClient({ server: server.url, ca: authority.cert, connections: 1 });
    for (let round = 0; round < 5; round++) await client.get(nodeKind, 'a');
    assert.equal(server.connections, 1);
  });

  test('are as many as allowed at most', async () => {
    await using server = await startServer({ pair }, (_request, response) => {
      setTimeout(() => sendJson(response, 200, node), 20);
    });
    await using client = createClient({ server: server.url, ca: authority.cert, connections: 2 });
    await Promise.all(Array.from({ length: 8 }, () => client.get(nodeKind, 'a')));
    assert.equal(server.connections, 2);
    assert.equal(server.received.length, 8);
  });

  test('are made anew after a reset, and what was under way fails', async () => {
    let isSilent = true;
    await using server = await startServer({ pair }, (_request, response) => {
      if (!isSilent) sendJson(response, 200, node);
    });
    await using client = createClient({ server: server.url, ca: authority.cert, connections: 1 });
    const stuck = assert.rejects(client.get(nodeKind, 'a'), ConnectionError);
    await waitFor('the request', () => server.received.length === 1);
    client.reset();
    await stuck;
    isSilent = false;
    assert.deepEqual(await client.get(nodeKind, 'a'), node);
    assert.equal(server.connections, 2);
    await waitFor('the old connection to be gone', () => server.open === 1);
  });

  test('a connection that is still being made ends with reset and close', async () => {
    await using server = await bareServer(() => undefined);
    for (const end of [(client: ApiClient) => client.reset(), (client: ApiClient) => client.close()]) {
      await using client = createClient({ server: server.url, ca: authority.cert, connectTimeoutMs: 60_000 });
      const before = server.sockets.size;
      const asked = assert.rejects(client.get(nodeKind, 'a'), ConnectionError);
      const socket = await waitFor('a connection', () => [...server.sockets][before]);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      await end(client);
      await asked;
      await closed;
    }
  });

  test('a server that is there again is found again', async () => {
    await using server = await healthy();
    await using client = createClient({ server: server.url, ca: authority.cert, connections: 1 });
    await client.get(nodeKind, 'a');
    server.cut();
    await waitFor('a request to succeed again', async () => await client.get(nodeKind, 'a'));
  });

  test('end with the client, for good, and twice is no harm', async () => {
    await using server = await healthy();
    const client = createClient({ server: server.url, ca: authority.cert });
    await client.get(nodeKind, 'a');
    await client.close();
    await client.close();
    client.reset();
    await assert.rejects(client.get(nodeKind, 'a'), /is closed/);
    await waitFor('the connection to be gone', () => server.open === 0);
  });
});

describe('options that cannot be used are told at once', () => {
  const server = 'https://127.0.0.1:1';
  const cases: [string, () => Partial<ClientOptions>, RegExp][] = [
    [
      'no address',
      () => ({ server: 'localhost:6443' }),
      /an address like https:\/\/host:port, not "localhost:6443"/,
    ],
    ['plain HTTP', () => ({ server: 'http://localhost' }), /an address like https/],
    ['a password in the address', () => ({ server: 'https://a:b@localhost' }), /an address like https/],
    ['no authority', () => ({ ca: 'hello' }), /certificate authority for .* is no certificate in PEM/],
    ['a certificate without key', () => ({ cert: pair.cert }), /needs both/],
    ['a key without certificate', () => ({ key: pair.key }), /needs both/],
    ['a key of another', () => ({ cert: pair.cert, key: other.key }), /cannot be used: .*mismatch/],
    ['a token over two lines', () => ({ token: 'a\nb' }), /the token for .* characters that no token has$/],
    ['an empty token', () => ({ token: '' }), /the token for .* is empty/],
  ];
  for (const [what, changed, message] of cases) {
    test(what, () => {
      assert.throws(
        () => new ApiClient({ server, ca: authority.cert, ...changed() }),
        (error) => error instanceof ExitError && message.test(error.message),
      );
    });
  }
});
