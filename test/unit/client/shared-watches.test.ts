/** Watches of a server that speaks HTTP/2: they share connections. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { leaseKind, StatusError } from '../../../src/api/index.ts';
import { HttpsServer } from '../../../src/base/https/index.ts';
import type { Pair } from '../../../src/base/x509/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { ConnectionError, createClient } from '../../../src/client/index.ts';
import { waitFor } from '../../support/index.ts';
import { makeAuthority, servingPair } from './tls-server.ts';

let authority: Pair;
let pair: Pair;
before(async () => {
  authority = await makeAuthority();
  pair = await servingPair(authority);
});

interface Lab extends AsyncDisposable {
  readonly client: ApiClient;
  readonly port: number;
  /** `2.0 /path`, of each request. */
  readonly requests: string[];
  /** Writes an event into each open watch, or ends it. */
  readonly watches: Set<(text: string | undefined) => void>;
  connections(): number;
  /** Cuts every connection. */
  stop(): Promise<void>;
}

async function lab({ port = 0, speaksHttp2 = true } = {}): Promise<Lab> {
  const sockets = new Set<object>();
  const [requests, watches] = [[] as string[], new Set<(text: string | undefined) => void>()];
  const server = new HttpsServer({
    credentials: { ...pair, clientCa: authority.cert },
    ...(speaksHttp2 ? { http2: { defaultContentType: 'application/json', isPreferred: false } } : {}),
    onError: (error, _request, reply) => reply.code(500).send(String(error)),
  });
  server.app.server.on('connection', (socket: object) => void sockets.add(socket));
  server.app.get('/*', (request, reply) => {
    requests.push(`${request.raw.httpVersion} ${request.url}`);
    if (!request.url.includes('watch=true'))
      return reply.send({ kind: 'LeaseList', metadata: {}, items: [] });
    if (request.url.includes('namespaces/refused'))
      return reply.code(403).send({ kind: 'Status', reason: 'Forbidden', message: 'no', code: 403 });
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { 'content-type': 'application/json' });
    raw.flushHeaders();
    const send = (text: string | undefined) => void (text === undefined ? raw.end() : raw.write(text));
    watches.add(send);
    raw.on('close', () => watches.delete(send));
    return reply;
  });
  const where = { who: 'the test', address: '127.0.0.1', port, addressSetting: '-', portSetting: '-' };
  const listening = await server.listen(where);
  const client = createClient({ server: `https://127.0.0.1:${listening}`, ca: authority.cert });
  const stop = () => server.close(0);
  return {
    ...{ client, requests, watches, port: listening, connections: () => sockets.size, stop },
    async [Symbol.asyncDispose]() {
      await client.close();
      await stop();
    },
  };
}

const event = (name: string) =>
  `${JSON.stringify({ type: 'ADDED', object: { kind: 'Lease', metadata: { name } } })}\n`;

interface Read {
  readonly names: string[];
  readonly done: Promise<unknown>;
}

/** Reads a watch; `done` resolves with why it failed, if it did. */
function read(client: ApiClient, options: Parameters<ApiClient['watch']>[1] = {}): Read {
  const names: string[] = [];
  const done = (async () => {
    try {
      for await (const { object } of client.watch(leaseKind, options))
        names.push(object.metadata?.name ?? '');
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  return { names, done };
}

describe('watches of a server that speaks HTTP/2', () => {
  test('share connections, a hundred on each, and calls do not use it', async () => {
    await using all = await lab();
    const opened: number[] = [];
    const reads = Array.from({ length: 150 }, (_, at) =>
      read(all.client, { onOpened: () => void opened.push(at) }),
    );
    await waitFor('all watches', () => all.watches.size === 150 && opened.length === 150);
    assert.ok(all.connections() <= 4, `${all.connections()} connections`);
    for (const send of all.watches) send(event('a'));
    await waitFor('all events', () => reads.every(({ names }) => names.length === 1));
    await all.client.list(leaseKind);
    assert.equal(all.requests.filter((each) => each.startsWith('2.0 ')).length, 150);
    assert.match(all.requests.at(-1) ?? '', /^1\.1 /);
    for (const send of all.watches) send(undefined);
    for (const { done } of reads) assert.equal(await done, undefined);
  });

  test('end with their signal, and the others go on', async () => {
    await using all = await lab();
    const end = new AbortController();
    const [ended, other] = [read(all.client, { signal: end.signal }), read(all.client)];
    await waitFor('both watches', () => all.watches.size === 2);
    end.abort();
    assert.equal(await ended.done, undefined);
    await waitFor('one watch to be gone', () => all.watches.size === 1);
    for (const send of all.watches) send(event('b'));
    await waitFor('its event', () => other.names.length === 1);
  });

  test('fail when they are refused, silent for too long, or cut', async () => {
    await using all = await lab();
    const refused = await read(all.client, { namespace: 'refused' }).done;
    assert.ok(refused instanceof StatusError && refused.reason === 'Forbidden', String(refused));
    const silent = await read(all.client, { idleTimeoutMs: 200 }).done;
    assert.ok(silent instanceof ConnectionError && silent.reason === 'timeout', String(silent));
    const cut = read(all.client);
    await waitFor('the watch', () => all.watches.size === 1);
    await all.stop();
    const error = await cut.done;
    assert.ok(error instanceof ConnectionError, String(error));
  });

  test('have connections of their own when another server takes its place that does not speak it', async () => {
    const before = await lab();
    const { client, port } = before;
    const first = read(client);
    await waitFor('the watch', () => before.watches.size === 1);
    await before.stop();
    assert.ok((await first.done) instanceof ConnectionError);
    await using after = await lab({ port, speaksHttp2: false });
    let isOver = true;
    await waitFor('a watch over HTTP/1.1', () => {
      if (isOver) void read(client).done.then(() => (isOver = true));
      isOver = false;
      return after.watches.size === 1;
    });
    assert.match(after.requests.at(-1) ?? '', /^1\.1 /);
    await client.close();
  });
});
