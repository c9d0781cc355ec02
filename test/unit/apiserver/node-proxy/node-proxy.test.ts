import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCheckpointRoutes } from '../../../../src/agent/checkpoint/index.ts';
import { sendJson, sendText } from '../../../../src/agent/server/index.ts';
import { waitFor } from '../../../support/index.ts';
import { rounds } from '../../../support/repetition.ts';
import { startServer } from '../support/index.ts';
import { nodeWith, startAgent } from './agent.ts';

const proxy = (node: string, path: string) => `/api/v1/nodes/${node}/proxy${path}`;

test('what is asked of a node is answered by its agent, which is told who asked', async () => {
  await using server = await startServer();
  const requesters: string[] = [];
  await using agent = await startAgent(server, 'node-a', [
    {
      path: '/configz',
      subresource: 'configz',
      methods: {
        GET: ({ reply, query, requester, caller }) => {
          requesters.push(requester);
          return sendJson(reply, 200, { query: query.toString(), caller: caller.name });
        },
      },
    },
  ]);

  const reply = await server.admin.request('GET', proxy('node-a', '/configz?one=1&two=%2F'));

  assert.equal(reply.code, 200, reply.text);
  assert.deepEqual(JSON.parse(reply.text), {
    query: 'one=1&two=%2F',
    caller: 'kube-apiserver-kubelet-client',
  });
  assert.deepEqual(requesters, ['kubernetes-admin']);
  for (const name of [`node-a:${agent.port}`, `https:node-a:${agent.port}`, 'https:node-a:']) {
    assert.equal((await server.admin.request('GET', proxy(name, '/configz'))).code, 200, name);
  }
  assert.equal((await server.admin.request('GET', proxy('node-a', '?path=configz'))).code, 200);
  assert.equal((await server.admin.request('GET', proxy('node-a', '/nothing'))).text, '404 page not found');
  await server.admin.refused('BadRequest', 'GET', proxy('node-a:22', '/configz'));
  await server.admin.refused('BadRequest', 'GET', proxy('http:node-a:', '/configz'));
  await server.admin.refused('NotFound', 'GET', proxy('node-b', '/configz'));
});

test('somebody else’s word about who asks is not taken', async () => {
  await using server = await startServer();
  const requesters: string[] = [];
  await using _agent = await startAgent(server, 'node-a', [
    {
      path: '/healthz',
      subresource: 'healthz',
      methods: {
        GET: ({ reply, requester }) => {
          requesters.push(requester);
          return sendText(reply, 200, 'ok');
        },
      },
    },
  ]);
  const headers = { 'nodeward-requester': 'somebody-else' };

  const reply = await server.admin.request('GET', proxy('node-a', '/healthz'), { headers });

  assert.equal(reply.text, 'ok');
  assert.deepEqual(requesters, ['kubernetes-admin']);
});

test('who may not use the proxy of a node learns nothing of the node', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));

  await server.stranger.refused('Forbidden', 'GET', proxy('node-a', '/healthz'));
  await server.stranger.refused('Forbidden', 'GET', proxy('node-b', '/healthz'));
  await server.nobody.refused('Unauthorized', 'POST', proxy('node-a', '/checkpoint/a/b/c'));
  const node = await server.node('node-a');
  await node.refused('Forbidden', 'GET', proxy('node-a', '/healthz'));
  assert.equal(agent.requests.length, 0);
});

test('a role for one verb on the proxy of one node gives that and no more', async () => {
  await using server = await startServer();
  await using _a = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));
  await using _b = await nodeWith(server, 'node-b', (_request, response) => void response.end('ok'));
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await server.admin.must('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'look' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['nodes/proxy'], resourceNames: ['node-a'] }],
  });
  await server.admin.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'look' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'look' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'stranger' }],
  });

  assert.equal((await server.stranger.request('GET', proxy('node-a', '/healthz'))).code, 200);
  assert.equal((await server.stranger.request('HEAD', proxy('node-a', '/healthz'))).code, 200);
  assert.equal((await server.stranger.request('GET', proxy('https:node-a:', '/healthz'))).code, 200);
  await server.stranger.refused('Forbidden', 'GET', proxy('node-b', '/healthz'));
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    await server.stranger.refused('Forbidden', method, proxy('node-a', '/healthz'));
});

test('a client that goes away in the middle of a checkpoint cancels it', async () => {
  await using server = await startServer();
  const signals: AbortSignal[] = [];
  const checkpointer = {
    checkpointPod: () => Promise.reject(new Error('no pod is asked for')),
    checkpoint: ({ cancel }: { cancel: AbortSignal }) => {
      signals.push(cancel);
      return new Promise<{ path: string }>((_resolve, reject) =>
        cancel.addEventListener('abort', () => reject(new Error('cancelled'))),
      );
    },
  };
  await using _agent = await startAgent(
    server,
    'node-a',
    createCheckpointRoutes({ checkpointer, enabled: true }),
  );
  using client = await server.admin.raw();

  client.write(
    `POST ${proxy('node-a', '/checkpoint/ns/pod/main')} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n`,
  );
  await waitFor('the checkpoint', () => signals.length === 1);
  client[Symbol.dispose]();

  await waitFor('its end', () => signals[0]?.aborted);
});

test('an archive passes as fast as it is read, and parts of it can be asked for', async () => {
  await using server = await startServer();
  const chunk = Buffer.alloc(64 * 1024, 'x');
  /** Far more than all connections on the way hold. */
  const chunks = rounds({ usual: 500, full: 2000 });
  let written = 0;
  await using _agent = await nodeWith(server, 'node-a', (request, response) => {
    if (request.headers.range === 'bytes=0-1') {
      response.writeHead(206, { 'content-range': 'bytes 0-1/9', 'content-length': 2, etag: '"e"' });
      response.end('ab');
      return;
    }
    const more = () => {
      while (written < chunks) {
        written += 1;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });

  const part = await server.admin.request('GET', proxy('node-a', '/archive'), {
    headers: { range: 'bytes=0-1' },
  });
  assert.deepEqual([part.code, part.text, part.headers['content-range']], [206, 'ab', 'bytes 0-1/9']);
  assert.equal(part.headers.etag, '"e"');

  const all = await server.admin.request('GET', proxy('node-a', '/archive'));
  assert.equal(all.bytes.length, chunks * chunk.length);
});

test('while the caller reads nothing, nothing is read from the node', async () => {
  await using server = await startServer();
  const chunk = Buffer.alloc(256 * 1024, 'x');
  let written = 0;
  let ended = false;
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.on('close', () => {
      ended = true;
    });
    const more = () => {
      written += 1;
      if (ended) return;
      response.write(chunk);
      response.once('drain', more);
    };
    more();
  });
  const { connect } = await import('node:tls');
  const socket = connect({ ...server.admin.tlsOptions });
  socket.pause();
  socket.write(`GET ${proxy('node-a', '/archive')} HTTP/1.1\r\nhost: a\r\n\r\n`);

  let before = -1;
  await waitFor('everything to stand still', async () => {
    const isStill = written > 0 && written === before;
    before = written;
    if (!isStill) await new Promise((resolve) => setTimeout(resolve, 200));
    return isStill;
  });
  assert.ok(written * chunk.length < 64 * 1024 * 1024, `${written} pieces were taken`);
  socket.destroy();
  await waitFor('the end at the node', () => ended);
});

test('an answer that breaks off is broken off, and never looks whole', async () => {
  await using server = await startServer();
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.write('half of ', () => response.socket?.destroy());
  });

  await assert.rejects(server.admin.request('GET', proxy('node-a', '/archive')));
});

test('a body is passed on as it came, up to the limit of the server', async () => {
  await using server = await startServer();
  await using _agent = await nodeWith(server, 'node-a', async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    response.end(`${request.method} ${request.headers['content-type']} ${bytes}`);
  });
  const headers = { 'content-type': 'text/x-own' };

  const sent = await server.admin.request('POST', proxy('node-a', '/x'), {
    headers,
    body: 'x'.repeat(100_000),
  });
  assert.equal(sent.text, 'POST text/x-own 100000');
  const chunked = { ...headers, 'transfer-encoding': 'chunked' };
  const raw = await server.admin.raw();
  raw.write(
    `PUT ${proxy('node-a', '/x')} HTTP/1.1\r\nhost: a\r\n${Object.entries(chunked)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n3\r\nabc\r\n0\r\n\r\n`,
  );
  assert.match(await raw.until(/PUT text/), /PUT text\/x-own 3/);
  raw[Symbol.dispose]();
  await server.admin.refused('RequestEntityTooLarge', 'POST', proxy('node-a', '/x'), {
    headers,
    body: 'x'.repeat(3 * 1024 * 1024 + 1),
  });
  assert.equal((await server.admin.request('DELETE', proxy('node-a', '/x'))).text, 'DELETE undefined 0');
});

test('a node that gives up in the middle of a body, or sends what is no answer, is told as such', async () => {
  await using server = await startServer();
  await using _agent = await nodeWith(server, 'node-a', (request) => {
    if (request.method === 'GET') request.socket.end('HTTP/1.1 999999 \x00\r\n\r\n');
    else request.once('data', () => request.socket.destroy());
  });

  const get = await server.admin.request('GET', proxy('node-a', '/x'));
  assert.equal(get.code, 502, get.text);
  const post = await server.admin.request('POST', proxy('node-a', '/x'), { body: 'x'.repeat(2_000_000) });
  assert.equal(post.code, 502, post.text);
  assert.match(post.text, /the agent of node node-a broke off/);
});

test('what a node says piece by piece arrives piece by piece', async () => {
  await using server = await startServer();
  const pieces: ((text: string) => void)[] = [];
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json;stream=watch' });
    response.flushHeaders();
    pieces.push((text) => response.write(text));
  });
  using client = await server.admin.raw();
  client.write(`GET ${proxy('node-a', '/checkpoints/1?watch=true')} HTTP/1.1\r\nhost: a\r\n\r\n`);

  await client.until(/^HTTP\/1\.1 200 OK\r\n.*stream=watch.*\r\n\r\n$/s);
  for (const piece of ['{"type":"ADDED"}', '{"type":"MODIFIED"}']) {
    pieces[0]?.(piece);
    await client.until(new RegExp(piece));
  }
});
