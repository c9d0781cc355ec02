import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { before, describe, test } from 'node:test';
import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, StatusError } from '../../../src/api/index.ts';
import type { Pair } from '../../../src/base/x509/index.ts';
import type { ApiClient, ClientOptions, WatchEvent } from '../../../src/client/index.ts';
import { ConnectionError, createClient } from '../../../src/client/index.ts';
import { waitFor } from '../../support/index.ts';
import type { TestServer } from './tls-server.ts';
import { makeAuthority, sendJson, servingPair, startServer } from './tls-server.ts';

let authority: Pair;
let pair: Pair;

before(async () => {
  authority = await makeAuthority();
  pair = await servingPair(authority);
});

function event(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { kind: 'Lease', metadata: { name } } })}\n`;
}

interface Watched extends AsyncDisposable {
  client: ApiClient;
  server: TestServer;
  /** The response of each watch that has begun. */
  watches: ServerResponse[];
}

/** A server that begins every watch and answers everything else with a lease. */
async function watched(options: Partial<ClientOptions> = {}): Promise<Watched> {
  const watches: ServerResponse[] = [];
  const server = await startServer({ pair }, (request, response) => {
    if (!request.path.includes('watch=true')) return sendJson(response, 200, { kind: 'Lease', metadata: {} });
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    watches.push(response);
  });
  const client = createClient({ server: server.url, ca: authority.cert, ...options });
  return {
    client,
    server,
    watches,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function begun({ watches }: Watched): Promise<ServerResponse> {
  return await waitFor('the watch', () => watches.at(-1));
}

function collect(events: AsyncIterable<WatchEvent<Lease>>, into: string[]): Promise<void> {
  return (async () => {
    for await (const { type, object } of events) into.push(`${type} ${object.metadata?.name}`);
  })();
}

describe('a watch', () => {
  test('gives the events in order until the server ends it', async () => {
    await using all = await watched();
    const seen: string[] = [];
    const options = { namespace: 'a', resourceVersion: '5', timeoutSeconds: 9, allowWatchBookmarks: true };
    const over = collect(all.client.watch(leaseKind, options), seen);
    const response = await begun(all);
    response.write(event('ADDED', 'a') + event('MODIFIED', 'a').slice(0, 20));
    await waitFor('the first event', () => seen.length === 1);
    response.write(`${event('MODIFIED', 'a').slice(20)}\n${event('BOOKMARK', 'b')}`);
    response.end(event('DELETED', 'a'));
    await over;
    assert.deepEqual(seen, ['ADDED a', 'MODIFIED a', 'BOOKMARK b', 'DELETED a']);
    const url = new URL(all.server.received[0]?.path ?? '', 'https://host');
    assert.equal(url.pathname, '/apis/coordination.k8s.io/v1/namespaces/a/leases');
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      resourceVersion: '5',
      timeoutSeconds: '9',
      allowWatchBookmarks: 'true',
      watch: 'true',
    });
  });

  test('outlives the time that other requests have', async () => {
    await using all = await watched({ timeoutMs: 1000 });
    const seen: string[] = [];
    const over = collect(all.client.watch(leaseKind), seen);
    const response = await begun(all);
    await assert.rejects(all.client.request({ method: 'GET', path: '/slow?watch=true' }), /within 1 s/);
    response.end(event('ADDED', 'a'));
    await over;
    assert.deepEqual(seen, ['ADDED a']);
  });

  test('takes no connection from other requests', async () => {
    await using all = await watched({ connections: 1 });
    const controller = new AbortController();
    const over = Array.from({ length: 3 }, () =>
      collect(all.client.watch(leaseKind, { signal: controller.signal }), []),
    );
    await waitFor('three watches', () => all.watches.length === 3);
    await all.client.get(leaseKind, 'a', { namespace: 'a' });
    controller.abort();
    await Promise.all(over);
  });

  test('ends quietly with its signal, before, during and after it began', async () => {
    await using all = await watched();
    await collect(all.client.watch(leaseKind, { signal: AbortSignal.abort() }), []);
    assert.equal(all.server.connections, 0);
    const controller = new AbortController();
    const seen: string[] = [];
    const over = collect(all.client.watch(leaseKind, { signal: controller.signal }), seen);
    (await begun(all)).write(event('ADDED', 'a'));
    await waitFor('the event', () => seen.length === 1);
    controller.abort();
    await over;
    await waitFor('the connection to be gone', () => all.server.open === 0);
  });

  test('ends when its reader leaves', async () => {
    await using all = await watched();
    const events = all.client.watch(leaseKind);
    const first = events.next();
    (await begun(all)).write(event('ADDED', 'a') + event('ADDED', 'b'));
    assert.equal((await first).value?.object.metadata?.name, 'a');
    await events.return();
    await waitFor('the connection to be gone', () => all.server.open === 0);
  });

  test('does not take from its reader what that throws', async () => {
    await using all = await watched();
    const reading = (async () => {
      for await (const _event of all.client.watch(leaseKind)) throw new RangeError('of the reader');
    })();
    (await begun(all)).write(event('ADDED', 'a'));
    await assert.rejects(reading, RangeError);
    await waitFor('the connection to be gone', () => all.server.open === 0);
  });
});

describe('a watch fails', () => {
  test('when the server says so in an event', async () => {
    await using all = await watched();
    const seen: string[] = [];
    const over = collect(all.client.watch(leaseKind), seen);
    const object = new StatusError('Expired', 'too old resource version').toStatus();
    (await begun(all)).write(`${event('ADDED', 'a')}${JSON.stringify({ type: 'ERROR', object })}\n`);
    await assert.rejects(over, (error) => error instanceof StatusError && error.reason === 'Expired');
    assert.deepEqual(seen, ['ADDED a']);
    await waitFor('the connection to be gone', () => all.server.open === 0);
  });

  test('when the server refuses it', async () => {
    await using server = await startServer({ pair }, (_request, response) => {
      sendJson(response, 410, new StatusError('Expired', 'too old').toStatus());
    });
    await using client = createClient({ server: server.url, ca: authority.cert });
    await assert.rejects(collect(client.watch(leaseKind), []), (error) => {
      assert.ok(error instanceof StatusError);
      assert.deepEqual([error.reason, error.code], ['Expired', 410]);
      return true;
    });
  });

  test('when the server dies, in the middle of an event too', async () => {
    for (const text of [event('ADDED', 'a'), `${event('ADDED', 'a')}{"type":"ADD`]) {
      await using all = await watched();
      const seen: string[] = [];
      const over = collect(all.client.watch(leaseKind), seen);
      (await begun(all)).write(text);
      await waitFor('the event', () => seen.length === 1);
      all.server.cut();
      await assert.rejects(over, (error) => {
        assert.ok(error instanceof ConnectionError, String(error));
        assert.equal(error.reason, 'broken');
        return true;
      });
    }
  });

  test('when the server never begins it', async () => {
    await using server = await startServer({ pair }, () => undefined);
    await using client = createClient({ server: server.url, ca: authority.cert });
    await assert.rejects(
      collect(client.watch(leaseKind, { timeoutMs: 150 }), []),
      /did not answer within 0\.15 s/,
    );
  });

  test('when it is silent for too long', async () => {
    await using all = await watched();
    const over = collect(all.client.watch(leaseKind, { idleTimeoutMs: 100 }), []);
    await assert.rejects(over, (error) => error instanceof ConnectionError && error.reason === 'timeout');
  });

  test('when the client is closed or reset', async () => {
    for (const end of ['close', 'reset'] as const) {
      await using all = await watched();
      const over = assert.rejects(collect(all.client.watch(leaseKind), []), ConnectionError);
      await begun(all);
      await all.client[end]();
      await over;
    }
  });

  const rubbish: [string, string, RegExp][] = [
    ['no JSON', 'hello\n', /no JSON object: hello/],
    ['no event', '7\n', /no JSON object/],
    ['an unknown type', event('EXPLODED', 'a'), /an event of an unknown type/],
    ['another kind', '{"type":"ADDED","object":{"kind":"Node"}}\n', /an event without a Lease/],
    ['half an event', '{"type":"ADDED","obj', /no JSON object/],
    ['a line without end', 'x'.repeat(20_000), /an event of more than 10000 bytes/],
    ['a huge line', `${'x'.repeat(20_000)}\n`, /an event of more than 10000 bytes/],
  ];
  for (const [what, text, message] of rubbish) {
    test(`when the server sends ${what}`, async () => {
      await using all = await watched({ eventLimitBytes: 10_000 });
      const seen: string[] = [];
      const over = collect(all.client.watch(leaseKind), seen);
      (await begun(all)).write(event('ADDED', 'a'));
      await waitFor('the event', () => seen.length === 1);
      (await begun(all)).end(text);
      await assert.rejects(over, (error) => {
        assert.ok(error instanceof ConnectionError, String(error));
        assert.equal(error.reason, 'unintelligible');
        assert.match(error.message, message);
        return true;
      });
      await waitFor('the watch to be over', () => all.watches[0]?.closed === true);
    });
  }
});
