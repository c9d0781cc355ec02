import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { before, beforeEach, describe, test } from 'node:test';
import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, namespaceKind, nodeKind, StatusError } from '../../../src/api/index.ts';
import type { Pair } from '../../../src/base/x509/index.ts';
import type { ApiClient, ClientOptions } from '../../../src/client/index.ts';
import { ConnectionError, createClient } from '../../../src/client/index.ts';
import type { Received, TestServer } from './tls-server.ts';
import { makeAuthority, sendJson, servingPair, startServer } from './tls-server.ts';

let authority: Pair;
let pair: Pair;
let answer: (request: Received, response: ServerResponse) => void;

before(async () => {
  authority = await makeAuthority();
  pair = await servingPair(authority);
});
beforeEach(() => {
  answer = (_request, response) => sendJson(response, 200, lease);
});

const lease = {
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'a', namespace: 'kube-node-lease' },
};
const namespace = 'kube-node-lease';

async function withClient(
  use: (client: ApiClient, server: TestServer) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  await using server = await startServer({ pair }, (request, response) => answer(request, response));
  await using client = createClient({ server: server.url, ca: authority.cert, ...options });
  await use(client, server);
}

const prefix = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

describe('each verb is one request', () => {
  const cases: [string, (client: ApiClient) => Promise<unknown>, string, string, unknown][] = [
    ['get', (client) => client.get(leaseKind, 'a', { namespace }), 'GET', `${prefix}/a`, undefined],
    [
      'get of a subresource',
      (client) => client.get(leaseKind, 'a', { namespace, subresource: 'status' }),
      'GET',
      `${prefix}/a/status`,
      undefined,
    ],
    [
      'create',
      (client) => client.create(leaseKind, { metadata: { name: 'a' } }, { namespace }),
      'POST',
      prefix,
      { metadata: { name: 'a' }, kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' },
    ],
    [
      'create where the object says its namespace',
      (client) => client.create(leaseKind, { metadata: { name: 'a', namespace } }),
      'POST',
      prefix,
      { metadata: { name: 'a', namespace }, kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' },
    ],
    ['replace', (client) => client.replace(leaseKind, lease, { namespace }), 'PUT', `${prefix}/a`, lease],
    [
      'replace of a subresource',
      (client) => client.replace(leaseKind, lease, { subresource: 'status' }),
      'PUT',
      `${prefix}/a/status`,
      lease,
    ],
    ['delete', (client) => client.delete(leaseKind, 'a', { namespace }), 'DELETE', `${prefix}/a`, undefined],
    [
      'delete at once',
      (client) => client.delete(leaseKind, 'a', { namespace, gracePeriodSeconds: 0 }),
      'DELETE',
      `${prefix}/a`,
      { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: {}, gracePeriodSeconds: 0 },
    ],
    [
      'delete of one version',
      (client) => client.delete(leaseKind, 'a', { namespace, uid: 'u', propagationPolicy: 'Foreground' }),
      'DELETE',
      `${prefix}/a`,
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
      },
    ],
  ];
  for (const [what, act, method, path, body] of cases) {
    test(what, async () => {
      await withClient(async (client, { received }) => {
        await act(client);
        assert.equal(received.length, 1);
        const [request] = received;
        assert.deepEqual([request?.method, request?.path], [method, path]);
        assert.equal(request?.headers.accept, 'application/json');
        assert.equal(request?.headers['content-type'], body === undefined ? undefined : 'application/json');
        assert.deepEqual(request?.body ? JSON.parse(request.body) : undefined, body);
      });
    });
  }

  test('list, with everything that it can be asked', async () => {
    answer = (_request, response) =>
      sendJson(response, 200, {
        kind: 'LeaseList',
        metadata: { resourceVersion: '7', continue: 'more' },
        items: [{ metadata: { name: 'a' } }],
      });
    await withClient(async (client, { received }) => {
      const options = {
        labelSelector: 'a in (b,c)',
        fieldSelector: 'metadata.name=a',
        limit: 1,
        continue: 'x&y',
      };
      const list = await client.list(leaseKind, { namespace, ...options, resourceVersion: '0' });
      assert.deepEqual(list.items, [
        { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'a' } },
      ]);
      assert.deepEqual(list.metadata, { resourceVersion: '7', continue: 'more' });
      const url = new URL(received[0]?.path ?? '', 'https://host');
      assert.equal(url.pathname, prefix);
      assert.deepEqual(Object.fromEntries(url.searchParams), {
        ...options,
        limit: '1',
        resourceVersion: '0',
      });
    });
  });

  test('a list of all namespaces, and one of nothing', async () => {
    answer = (_request, response) =>
      sendJson(response, 200, { kind: 'LeaseList', metadata: {}, items: null });
    await withClient(async (client, { received }) => {
      assert.deepEqual((await client.list(leaseKind)).items, []);
      assert.equal(received[0]?.path, '/apis/coordination.k8s.io/v1/leases');
    });
  });

  test('the core group, cluster-scoped, and another suffix of groups', async () => {
    answer = (_request, response) => sendJson(response, 200, { kind: 'Namespace', metadata: {} });
    await withClient(
      async (client, { received }) => {
        await client.get(namespaceKind, 'default', { namespace: 'ignored' });
        await client.delete(leaseKind, 'a', { namespace });
        assert.deepEqual(
          received.map(({ path }) => path),
          [
            '/api/v1/namespaces/default',
            '/apis/coordination.example.org/v1/namespaces/kube-node-lease/leases/a',
          ],
        );
      },
      { groupSuffix: 'example.org' },
    );
  });

  test('a path in front of the API’s is kept, and names are escaped', async () => {
    await using server = await startServer({ pair }, (request, response) => answer(request, response));
    await using client = createClient({ server: `${server.url}/k8s/a/`, ca: authority.cert });
    await client.delete(nodeKind, 'a/b ?');
    assert.equal(server.received[0]?.path, '/k8s/a/api/v1/nodes/a%2Fb%20%3F');
  });

  test('any request', async () => {
    answer = (_request, response) => response.writeHead(418, { 'retry-after': '7' }).end('tea');
    await withClient(async (client, { received }) => {
      const request = {
        method: 'PATCH',
        path: '/x?y=z',
        body: '[]',
        contentType: 'application/json-patch+json',
      } as const;
      assert.deepEqual(await client.request({ ...request, accept: 'text/plain' }), {
        code: 418,
        body: 'tea',
        retryAfterSeconds: 7,
      });
      const headers = received[0]?.headers;
      assert.deepEqual([headers?.['content-type'], headers?.accept], [request.contentType, 'text/plain']);
    });
  });
});

describe('a request that could become another is never sent', () => {
  const cases: [string, (client: ApiClient) => Promise<unknown>][] = [
    ['a deletion without name', (client) => client.delete(nodeKind, '')],
    ['a deletion of "."', (client) => client.delete(nodeKind, '.')],
    ['a get of ".."', (client) => client.get(leaseKind, '..', { namespace })],
    ['a namespace ".."', (client) => client.get(leaseKind, 'a', { namespace: '..' })],
    ['a deletion without namespace', (client) => client.delete(leaseKind, 'a')],
    ['a creation without namespace', (client) => client.create(leaseKind, {})],
    ['a replacement without name', (client) => client.replace(leaseKind, { metadata: { namespace } })],
  ];
  for (const [what, act] of cases) {
    test(what, async () => {
      await withClient(async (client, { received }) => {
        await assert.rejects(act(client), /is no name|is no namespace|a namespace is needed/);
        assert.equal(received.length, 0);
      });
    });
  }
});

describe('a refusal is a StatusError', () => {
  async function refused(): Promise<StatusError> {
    let refusal: unknown;
    await withClient(async (client) => {
      refusal = await client.get(leaseKind, 'a', { namespace }).catch((error: unknown) => error);
    });
    assert.ok(refusal instanceof StatusError, String(refusal));
    return refusal;
  }

  test('as the server says it', async () => {
    const status = new StatusError('NotFound', 'leases "a" not found', {
      details: { name: 'a', kind: 'leases' },
    });
    answer = (_request, response) => sendJson(response, 404, status.toStatus());
    const error = await refused();
    assert.deepEqual([error.reason, error.code, error.message], ['NotFound', 404, 'leases "a" not found']);
    assert.deepEqual(error.details, { name: 'a', kind: 'leases' });
  });

  test('with the time to wait from the header when the body has none', async () => {
    answer = (_request, response) => {
      response.writeHead(429, { 'retry-after': '3' });
      response.end(JSON.stringify(new StatusError('TooManyRequests', 'later').toStatus()));
    };
    assert.deepEqual((await refused()).details, { retryAfterSeconds: 3 });
  });

  const others: [number, string, string][] = [
    [401, 'Unauthorized', ''],
    [404, 'NotFound', '<html>\n<body>no\u001bsuch page</body>'],
    [502, '', 'Bad gateway'],
    [503, 'ServiceUnavailable', '{"kind":"Status","details":7}'],
    [302, '', ''],
    [500, 'InternalError', 'x'.repeat(3_000_000)],
  ];
  for (const [code, reason, body] of others) {
    test(`by its code where it is no Status: ${code}`, async () => {
      answer = (_request, response) => response.writeHead(code, { location: '/elsewhere' }).end(body);
      const error = await refused();
      assert.deepEqual([error.reason, error.code], [reason, code]);
      assert.match(error.message, new RegExp(`^https://127.0.0.1:\\d+ answered ${code}`));
      assert.ok(error.message.length < 300);
      assert.doesNotMatch(error.message, /\p{Cc}/u);
    });
  }
});

describe('an answer that is none is a ConnectionError', () => {
  const cases: [string, string, RegExp][] = [
    ['no JSON', '<html>', /sent what is no JSON object: <html>/],
    ['nothing', '', /sent what is no JSON object/],
    ['a list', '[]', /sent what is no JSON object/],
    ['another kind', '{"kind":"Node","metadata":{}}', /something else than a Lease/],
    ['odd metadata', '{"kind":"Lease","metadata":7}', /something else than a Lease/],
  ];
  for (const [what, body, message] of cases) {
    test(what, async () => {
      answer = (_request, response) => response.end(body);
      await withClient(async (client) => {
        await assert.rejects(client.get(leaseKind, 'a', { namespace }), (error) => {
          assert.ok(error instanceof ConnectionError);
          assert.equal(error.reason, 'unintelligible');
          assert.match(error.message, message);
          return true;
        });
      });
    });
  }

  test('a list of other things', async () => {
    for (const body of [
      '{"kind":"LeaseList","items":{}}',
      '{"kind":"LeaseList","items":[7]}',
      '{"kind":"NodeList"}',
    ]) {
      answer = (_request, response) => response.end(body);
      await withClient(async (client) => {
        await assert.rejects(client.list(leaseKind), /something else than a list|a list of other things/);
      });
    }
  });

  test('one that is too long, whether it tells its length or not', async () => {
    for (const told of [true, false]) {
      const body = JSON.stringify({ ...lease, metadata: { annotations: { a: 'x'.repeat(200_000) } } });
      answer = (_request, response) => {
        if (told) response.setHeader('content-length', body.length);
        response.end(body);
      };
      await withClient(
        async (client) => {
          await assert.rejects(
            client.get(leaseKind, 'a', { namespace }),
            /an answer of more than 100000 bytes/,
          );
          answer = (_request, response) => sendJson(response, 200, lease);
          const next: Lease = await client.get(leaseKind, 'a', { namespace });
          assert.equal(next.metadata?.name, 'a', 'the client goes on');
        },
        { answerLimitBytes: 100_000, connections: 1 },
      );
    }
  });

  test('one that ends in the middle', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('{"kind":');
      setTimeout(() => response.destroy(), 20);
    };
    await withClient(async (client) => {
      await assert.rejects(client.get(leaseKind, 'a', { namespace }), (error) => {
        assert.ok(error instanceof ConnectionError);
        assert.equal(error.reason, 'broken');
        return true;
      });
    });
  });
});
