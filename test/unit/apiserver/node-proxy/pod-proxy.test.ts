import assert from 'node:assert/strict';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer, request as httpRequest, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { StatusError } from '../../../../src/api/index.ts';
import { PodProxy, readPodName } from '../../../../src/apiserver/node-proxy/index.ts';
import { createMetrics, systemClock } from '../../../../src/base/index.ts';
import { createAuthority } from '../../../../src/base/x509/index.ts';
import { waitFor } from '../../../support/index.ts';
import { startServer } from '../support/index.ts';

const prefix = '/api/v1/namespaces/default/pods/web/proxy';

type Upgraded = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

async function listen<T extends Pick<Server, 'listen' | 'address' | 'close'>>(server: T) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** The proxy by itself behind a plain server, and a pod whose port is the test's. */
async function world(
  answer: RequestListener,
  { upgraded, name = 'web' }: { upgraded?: Upgraded; name?: string } = {},
) {
  await using setup = new AsyncDisposableStack();
  const requests: IncomingMessage[] = [];
  const taken: RequestListener = (request, response) => {
    requests.push(request);
    answer(request, response);
  };
  const isSecure = name.startsWith('https:');
  const pair = isSecure ? await createAuthority('anybody', 3_600_000, Date.now()) : undefined;
  const pod = pair === undefined ? createServer(taken) : createSecureServer(pair, taken);
  if (upgraded !== undefined) pod.on('upgrade', upgraded);
  const at = await listen(pod);
  setup.defer(async () => {
    pod.closeAllConnections();
    await at.close();
  });
  const ports = [{ containerPort: at.port, name: 'page' }];
  const object = {
    metadata: { name: 'web', namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'i', ports }] },
    status: { podIP: '127.0.0.1' },
  };
  const proxy = new PodProxy({ metrics: createMetrics(), clock: systemClock, isAllowed: () => true });
  const asked = (request: IncomingMessage, response: ServerResponse) => ({
    pod: object,
    namespace: 'default',
    named: readPodName(name),
    target: request.url ?? '/',
    ...{ prefix, request, response, requester: 'alice' },
    untilMs: Number.POSITIVE_INFINITY,
    bodyLimitBytes: 1024,
    onAnswer: () => undefined,
  });
  const fail = (response: ServerResponse) => (error: unknown) => {
    const isOwn = error instanceof StatusError;
    response.writeHead(isOwn ? error.code : 500).end(String(isOwn ? error.message : error));
  };
  const front = createServer((request, response) => {
    void proxy.pass(asked(request, response)).catch(fail(response));
  });
  front.on('upgrade', (request, socket, head) => {
    assert.ok(socket instanceof Socket);
    const upgrade = { socket, head, take: () => undefined };
    const stopping = new AbortController().signal;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.end());
    void proxy.join({ ...asked(request, response), upgrade, stopping }).then((declined) => {
      if (declined !== undefined) response.writeHead(declined.code).end(declined.text);
    }, fail(response));
  });
  const { port, close } = await listen(front);
  setup.defer(async () => {
    front.closeAllConnections();
    await close();
  });
  const held = setup.move();
  return { port, podPort: at.port, requests, pod, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

interface Ask {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function ask(port: number, { path = '/', method = 'GET', headers = {}, body }: Ask = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    code: number;
    text: string;
    headers: IncomingMessage['headers'];
  }>();
  const asking = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
    answer.on('end', () => resolve({ code: answer.statusCode ?? 0, text, headers: answer.headers }));
    answer.on('error', reject);
  });
  asking.on('error', reject).end(body);
  return promise;
}

test('a request reaches the first port that a pod declares, with its own headers and none that say who asks', async () => {
  await using at = await world((_request, response) => response.writeHead(418, { 'x-own': 'a' }).end('tea'));
  const headers = {
    ...{ authorization: 'Bearer secret', 'impersonate-user': 'root', 'x-remote-user': 'root' },
    ...{ 'x-forwarded-for': '1.2.3.4', 'x-app': 'kept', cookie: 'a=b', host: 'api.example' },
    ...{ connection: 'x-hop', 'x-hop': 'one', te: 'trailers' },
  };
  const answer = await ask(at.port, { path: '/a%20b?c=d%2F', method: 'POST', headers, body: 'text' });

  assert.deepEqual([answer.code, answer.text, answer.headers['x-own']], [418, 'tea', 'a']);
  const [request] = at.requests;
  assert.ok(request !== undefined);
  const { url, method, headers: seen } = request;
  assert.deepEqual([url, method], ['/a%20b?c=d%2F', 'POST']);
  assert.deepEqual([seen['x-app'], seen.cookie, seen.host], ['kept', 'a=b', `127.0.0.1:${at.podPort}`]);
  assert.deepEqual([seen['x-forwarded-host'], seen['x-forwarded-uri']], ['api.example', '/a%20b']);
  assert.equal(seen['x-forwarded-for'], '127.0.0.1');
  for (const name of ['authorization', 'impersonate-user', 'x-remote-user', 'x-hop', 'te'])
    assert.equal(seen[name], undefined, name);
});

test('a page cannot act for the API: an origin of its own, cookies for its path, its own addresses below the path', async () => {
  await using at = await world((request, response) => {
    const own = `http://127.0.0.1:${at.podPort}`;
    response.writeHead(302, {
      location:
        request.url === '/full'
          ? `${own}/next?a=b`
          : request.url === '/away'
            ? 'https://example.com/x'
            : '/next',
      'set-cookie': request.url === '/one' ? 'id=1' : ['id=1; Path=/; HttpOnly', 'b=2; domain=api.example'],
      'content-security-policy': "default-src 'self'",
      'access-control-allow-origin': '*',
      'strict-transport-security': 'max-age=1',
    });
    response.end();
  });
  const { headers } = await ask(at.port);
  assert.equal(headers.location, `${prefix}/next`);
  assert.equal((await ask(at.port, { path: '/full' })).headers.location, `${prefix}/next?a=b`);
  assert.equal((await ask(at.port, { path: '/away' })).headers.location, 'https://example.com/x');
  const one = await ask(at.port, { path: '/one' });
  assert.deepEqual(one.headers['set-cookie'], [`id=1; Path=${prefix}`]);
  assert.deepEqual(headers['set-cookie'], [`id=1; HttpOnly; Path=${prefix}`, `b=2; Path=${prefix}`]);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'self', sandbox .*allow-scripts$/);
  assert.doesNotMatch(policy, /allow-same-origin/);
  assert.equal(headers['access-control-allow-origin'], undefined);
  assert.equal(headers['strict-transport-security'], undefined);
});

test('links of a page lead below the path, compressed or not, and as the page comes; nothing else is changed', async () => {
  const page = '<a href="/next">';
  const wanted = `<a href="${prefix}/next">`;
  const first = Promise.withResolvers<void>();
  await using at = await world(async ({ url = '' }, response) => {
    const type = url === '/text' ? 'text/plain' : 'text/html; charset=utf-8';
    const tags = { etag: '"1"', 'accept-ranges': 'bytes' };
    if (url === '/in-pieces') {
      response.writeHead(200, { 'content-type': type }).write(page);
      await first.promise;
      return response.end(page);
    }
    if (url === '/broken') {
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
      return response.end('no archive');
    }
    const encoding =
      url === '/gzip' ? { 'content-encoding': 'gzip' } : url === '/odd' ? { 'content-encoding': 'x' } : {};
    const body = url === '/gzip' ? gzipSync(page) : Buffer.from(page);
    return response
      .writeHead(200, { 'content-type': type, 'content-length': body.length, ...encoding, ...tags })
      .end(body);
  });
  for (const path of ['/', '/gzip']) {
    const { text, headers } = await ask(at.port, { path });
    assert.equal(text, wanted, path);
    const { etag, 'content-encoding': encoding, 'accept-ranges': ranges } = headers;
    assert.deepEqual([etag, encoding, ranges], ['W/"1"', undefined, undefined]);
  }
  for (const path of ['/text', '/odd']) {
    const { text, headers } = await ask(at.port, { path });
    assert.deepEqual(
      [text, headers.etag, headers['content-length']],
      [page, '"1"', String(page.length)],
      path,
    );
  }
  const { text, headers } = await ask(at.port, { path: '/gzip', method: 'HEAD' });
  assert.deepEqual(
    [text, headers['content-length'], headers['content-encoding']],
    ['', undefined, undefined],
  );
  await assert.rejects(ask(at.port, { path: '/broken' }), { code: 'ECONNRESET' });
  const pieces: string[] = [];
  const asking = httpRequest(
    { host: '127.0.0.1', port: at.port, path: '/in-pieces', agent: false },
    (answer) => {
      answer.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece));
    },
  );
  asking.end();
  await waitFor('the first piece', () => pieces.join('') === wanted);
  first.resolve();
  await waitFor('the rest', () => pieces.join('') === wanted + wanted);
});

test("a 401 of the pod is the caller's to see; a body over the limit is refused", async () => {
  await using at = await world((_request, response) => response.writeHead(401).end('log in'));
  assert.deepEqual([(await ask(at.port)).code, (await ask(at.port)).text], [401, 'log in']);
  assert.equal((await ask(at.port, { method: 'PUT', body: 'x'.repeat(2000) })).code, 413);
});

test('over HTTPS any certificate will do, and a port may be named', async () => {
  await using at = await world((_request, response) => response.end('secure'), { name: 'https:web:page' });
  assert.equal((await ask(at.port)).text, 'secure');
});

test('a pod where nothing listens is 503 in words that scripts know', async () => {
  await using at = await world((_request, response) => response.end());
  at.pod.closeAllConnections();
  await new Promise((resolve) => at.pod.close(resolve));
  const { code, text } = await ask(at.port);
  assert.equal(code, 503);
  assert.match(text, /^error trying to reach service: .*ECONNREFUSED/);
  const upgrade = await ask(at.port, { headers: { connection: 'Upgrade', upgrade: 'websocket' } });
  assert.equal(upgrade.code, 503);
});

test('a connection that is upgraded passes byte by byte; what is answered instead of that comes back', async () => {
  await using at = await world((_request, response) => response.end(), {
    upgraded: (request, socket, head) => {
      if (request.url === '/no') {
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
        return;
      }
      const agrees = 'connection: Upgrade\r\nupgrade: own\r\nset-cookie: a=b; Path=/';
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${agrees}\r\n\r\n`);
      socket.write(head);
      socket.pipe(socket);
    },
  });
  const headers = { connection: 'Upgrade', upgrade: 'own', authorization: 'Bearer secret' };
  assert.deepEqual((await ask(at.port, { path: '/no', headers })).code, 403);
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const asking = httpRequest({ host: '127.0.0.1', port: at.port, headers, agent: false });
  asking
    .on('upgrade', (answer, socket) => {
      assert.equal(answer.headers['set-cookie'], undefined, 'it would be one of this server');
      resolve(socket);
    })
    .on('error', reject)
    .end();
  const socket = await promise;
  const sent = Buffer.alloc(300_000, 'abc');
  const heard: Buffer[] = [];
  let length = 0;
  const all = new Promise<void>((done) => {
    socket.on('data', (piece: Buffer) => {
      heard.push(piece);
      length += piece.length;
      if (length === sent.length) done();
    });
  });
  socket.write(sent);
  await all;
  assert.ok(Buffer.concat(heard).equals(sent));
  socket.destroy();
});

test('through the API: who may use it, which pods and ports there are, and that folders end with a slash', async () => {
  await using server = await startServer();
  const pods = '/api/v1/namespaces/default/pods';
  const create = async (name: string, status: object) => {
    const body = { metadata: { name }, spec: { nodeName: 'n', containers: [{ name: 'main', image: 'i' }] } };
    assert.equal((await server.admin.request('POST', pods, { body })).code, 201);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patched = await server.admin.request('PATCH', `${pods}/${name}/status`, {
      body: { status },
      headers,
    });
    assert.equal(patched.code, 200, patched.text);
  };
  await create('waits', { phase: 'Pending' });
  await create('own', { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  await create('cloud', { phase: 'Running', podIP: '169.254.169.254', podIPs: [{ ip: '169.254.169.254' }] });
  const refused = async (path: string) =>
    (await server.admin.refused('BadRequest', 'GET', `${pods}/${path}`)).message;
  assert.equal(await refused('waits/proxy/'), 'pod waits has no address to connect to, it is Pending');
  assert.equal(await refused('own:80/proxy/x'), 'address not allowed');
  assert.equal(await refused('cloud/proxy/x'), 'address not allowed');
  assert.equal(await refused('ftp:own:80/proxy/'), 'invalid pod request "ftp:own:80"');
  await server.admin.refused('NotFound', 'GET', `${pods}/gone:80/proxy/`);
  const { message } = await server.stranger.refused('Forbidden', 'POST', `${pods}/own:80/proxy/x`);
  assert.match(message ?? '', /cannot create resource "pods\/proxy"/);
  const moved = await server.admin.request('GET', `${pods}/own:80/proxy?a=b`);
  assert.deepEqual([moved.code, moved.headers.location], [301, `${pods}/own:80/proxy/?a=b`]);

  const { resources } = JSON.parse((await server.admin.request('GET', '/api/v1')).text);
  assert.deepEqual(
    resources.find(({ name }: { name: string }) => name === 'pods/proxy'),
    {
      name: 'pods/proxy',
      singularName: '',
      namespaced: true,
      kind: 'PodProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
  );
});
