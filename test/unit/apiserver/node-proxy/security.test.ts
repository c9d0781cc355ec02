import assert from 'node:assert/strict';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { lease, leases, startServer } from '../support/index.ts';
import type { StandIn } from './agent.ts';
import { infoOf, nodeStatus, nodeWith, publish, servingPair, standIn } from './agent.ts';

const proxy = (node: string, path = '/healthz') => `/api/v1/nodes/${node}/proxy${path}`;

/** The Status of a request that could not be passed on. */
async function failure(server: Awaited<ReturnType<typeof startServer>>, node: string) {
  const reply = await server.admin.request('GET', proxy(node));
  const { message } = JSON.parse(reply.text);
  return { code: reply.code, message: String(message) };
}

test('a node that gives another node’s address as its own does not get that one’s requests', async () => {
  await using server = await startServer();
  await using victim = await nodeWith(server, 'victim', (_request, response) => void response.end('ok'));
  await publish(server, 'rogue', victim.port);

  const { code, message } = await failure(server, 'rogue');

  assert.equal(code, 502);
  assert.match(message, /127\.0\.0\.1:\d+: it shows a certificate that is not for this node/);
  assert.equal(victim.requests.length, 0);
});

test('a node leads its own requests astray at most, and nobody’s else', async () => {
  await using server = await startServer();
  await using victim = await nodeWith(server, 'victim', (_request, response) => void response.end('ok'));
  await publish(server, 'rogue', 1);
  const rogue = await server.node('rogue');
  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { status: nodeStatus(victim.port) };

  const own = await rogue.request('PATCH', '/api/v1/nodes/rogue/status', { body, headers });
  assert.equal(own.code, 200, own.text);
  assert.equal((await failure(server, 'rogue')).code, 502);

  const others = { body: { status: nodeStatus(1) }, headers };
  await rogue.refused('Forbidden', 'PATCH', '/api/v1/nodes/victim/status', others);
  await rogue.refused('Forbidden', 'GET', proxy('victim'));
  assert.equal((await server.admin.request('GET', proxy('victim'))).text, 'ok');
  assert.equal(victim.requests.length, 1);
});

test('a certificate that bears the name of another node too is still not that node’s', async () => {
  await using server = await startServer();
  // as an administrator could have made it for addresses that two nodes share
  const pair = await servingPair(server, 'rogue', ['127.0.0.1']);
  await using agent = await standIn(server, pair, (_request, response) => void response.end('ok'));
  await publish(server, 'victim', agent.port);

  assert.equal((await failure(server, 'victim')).code, 502);
  assert.equal(agent.requests.length, 0);
});

test('the control plane’s own port is no node', async () => {
  await using server = await startServer();
  await publish(server, 'rogue', server.port);

  const { code, message } = await failure(server, 'rogue');

  assert.equal(code, 502);
  assert.match(message, /not for this node/);
});

test('what is no agent of the cluster is not spoken to', async () => {
  await using server = await startServer();
  await using other = await startServer();
  const pair = await servingPair(other, 'node-a');
  await using agent = await standIn(other, pair, (_request, response) => void response.end('ok'));
  await publish(server, 'node-a', agent.port);

  const { code, message } = await failure(server, 'node-a');

  assert.equal(code, 502);
  assert.match(message, /certificate that is not accepted/);
  assert.equal(agent.requests.length, 0);
});

test('addresses that lead nowhere, or to this machine from another, are not tried', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));
  const elsewhere = { nodeInfo: infoOf('another-boot') };
  const at = (address: string, type = 'InternalIP') => ({ addresses: [{ type, address }] });

  const refused: object[] = [
    elsewhere,
    { ...elsewhere, ...at('::1') },
    { ...elsewhere, ...at('::ffff:127.0.0.1') },
    at('169.254.169.254'),
    at('fe80::1'),
    at('fe80::1%lo'),
    at('0.0.0.0'),
    at('::'),
    at('224.0.0.1'),
    at('255.255.255.255'),
    at('localhost'),
    at('node-a', 'Hostname'),
    at('127.0.0.1', 'Hostname'),
    at('127.1'),
    at('0x7f000001'),
    { addresses: [] },
    { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } },
  ];
  for (const change of refused) {
    await publish(server, 'node-a', agent.port, change);
    const { code, message } = await failure(server, 'node-a');
    assert.equal(code, 503, JSON.stringify(change));
    assert.match(message, /^node node-a cannot be reached: (none of|it has (not )?told)/);
  }
  assert.equal(agent.requests.length, 0);
});

test('nobody there is 503, with what was tried', async () => {
  await using server = await startServer();
  const agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));
  await agent[Symbol.asyncDispose]();

  const { code, message } = await failure(server, 'node-a');

  assert.equal(code, 503);
  assert.match(message, /^node node-a cannot be reached: 127\.0\.0\.1:\d+: it refuses connections$/);
});

test('no credential of the caller’s reaches a node, and nothing that speaks for somebody', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));
  const headers = {
    cookie: 'a=b',
    'proxy-authorization': 'Basic x',
    'x-remote-user': 'kubernetes-admin',
    'x-remote-group': 'system:masters',
    'x-forwarded-for': '10.0.0.1',
    'impersonate-user': 'alice',
    'impersonate-group': 'system:masters',
    te: 'trailers',
    connection: 'if-range, keep-alive',
    'if-range': '"e"',
    accept: 'text/plain',
    range: 'bytes=0-1',
    expect: '100-continue',
  };

  assert.equal((await server.admin.request('GET', proxy('node-a'), { headers })).code, 200);

  const [request] = agent.requests;
  assert.deepEqual(Object.keys(request?.headers ?? {}).sort(), [
    'accept',
    'connection',
    'host',
    'nodeward-requester',
    'range',
  ]);
  assert.equal(request?.headers['nodeward-requester'], 'alice');
});

test('a node sets no cookie, sends nobody elsewhere, and its pages run no scripts', async () => {
  await using server = await startServer();
  const locations = ['https://evil.example/', '//evil.example/', '/\\evil.example', '/checkpoints/1'];
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.writeHead(307, {
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'strict-transport-security': 'max-age=1',
      'content-security-policy': 'none',
      'nodeward-checkpoint': 'id',
      'x-frame-options': 'allow',
      location: locations.shift() ?? '',
    });
    response.end('<script>');
  });

  for (const expected of [undefined, undefined, undefined, '/api/v1/nodes/node-a/proxy/checkpoints/1']) {
    const { code, headers } = await server.admin.request('GET', proxy('node-a'));
    assert.equal(code, 307);
    assert.equal(headers.location, expected);
    for (const name of [
      'set-cookie',
      'access-control-allow-origin',
      'strict-transport-security',
      'x-frame-options',
    ])
      assert.equal(headers[name], undefined, name);
    assert.equal(headers['content-security-policy'], 'sandbox');
    assert.equal(headers['nodeward-checkpoint'], 'id');
  }
});

test('a path reaches the node that was authorized, as it was written, or is refused', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));
  await using other = await nodeWith(server, 'node-b', (_request, response) => void response.end('other'));
  const passed = [
    '/a//b',
    '//evil.example/x',
    '/a%2Fb',
    '/%252e%252e/x',
    '/...',
    '/a?b=../c',
    '/',
    '/%E4'.concat('%B8%AD'),
  ];
  const refused = [
    '/..',
    '/../node-b/proxy/x',
    '/%2e%2e/x',
    '/.%2E/x',
    '/a/./b',
    '/..%2fx',
    '/a%5c..%5cb',
    '/%00',
    '/%0d%0aHost:x',
    '/%zz',
  ];
  using raw = await server.admin.raw();

  for (const path of passed)
    assert.equal(await raw.exchange(`GET ${proxy('node-a', path)} HTTP/1.1\r\nhost: a\r\n\r\n`), 200, path);
  assert.deepEqual(
    agent.requests.map(({ url }) => url),
    passed,
  );
  for (const path of refused)
    assert.equal(await raw.exchange(`GET ${proxy('node-a', path)} HTTP/1.1\r\nhost: a\r\n\r\n`), 400, path);
  // the words of the path in another spelling, and names that are none
  for (const path of [
    '/api/v1/nodes/node-a/%70roxy/x',
    '/api/v1/%6eodes/node-a/proxy/x',
    proxy('a%2Fb'),
    proxy(':::'),
  ])
    assert.ok([400, 404].includes(await raw.exchange(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)), path);
  assert.equal(agent.requests.length, passed.length);
  assert.equal(other.requests.length, 0);
});

test('an upgrade begins only with the right to create, and an answer instead of one comes back', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.writeHead(404).end('no stream here');
  });
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };

  const { code, text } = await server.admin.request('GET', proxy('node-a'), { headers });
  assert.deepEqual([code, text], [404, 'no stream here']);
  const { message } = await server.stranger.refused('Forbidden', 'GET', proxy('node-a'), { headers });
  assert.match(message ?? '', /cannot create resource "nodes\/proxy"/);
  assert.equal(agent.requests.length, 1);
});

test('an agent that does not know the control plane is no reason for the caller to log in again', async () => {
  await using server = await startServer();
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response
      .writeHead(401, { 'www-authenticate': 'Basic realm="give me your password"' })
      .end('Unauthorized');
  });

  const reply = await server.admin.request('GET', proxy('node-a'));

  assert.equal(reply.code, 502);
  assert.equal(reply.headers['www-authenticate'], undefined);
});

test('a thousand requests that hang at nodes hold up no heartbeat', async () => {
  await using server = await startServer({ http2: true });
  await using agents = new AsyncDisposableStack();
  const nodes = Array.from({ length: 20 }, (_, index) => `node-${index}`);
  const standing: StandIn[] = [];
  for (const name of nodes) standing.push(agents.use(await nodeWith(server, name, () => undefined)));
  await mayProxy(server, 'proxy-users');
  const codes: number[] = [];
  const sessions: ClientHttp2Session[] = [];
  const hanging = () => standing.reduce((sum, { requests }) => sum + requests.length, 0);
  let asked = 0;
  /** A node is given up after 5 s: on a busy machine no more handshakes begin at once than can end in that time. */
  const untilMet = () =>
    waitFor('each to hang or to be refused', () => hanging() + codes.length === asked, { intervalMs: 5 });
  for (const [at] of nodes.entries()) {
    const { tlsOptions } = await userOf(server, `user-${at % 5}`);
    const session = connect(`https://127.0.0.1:${server.port}`, tlsOptions);
    sessions.push(session);
    for (let index = 0; index < 50; index++) {
      const stream = session.request({ ':path': proxy(nodes[(at + index) % 20] ?? '') });
      stream.once('response', (headers) => codes.push(headers[':status'] ?? 0));
      stream.on('error', () => undefined).resume();
      asked += 1;
      if (asked % 25 === 0) await untilMet();
    }
  }

  assert.equal(asked, 1000);
  assert.deepEqual(new Set(codes), new Set([429]));
  assert.equal(hanging(), 400);
  const node = await server.node('node-0');
  const body = lease('node-0');
  assert.equal((await node.request('POST', leases('kube-node-lease'), { body })).code, 201);
  assert.equal((await server.admin.request('GET', '/api/v1/nodes')).code, 200);
  const { text } = await server.admin.request('GET', '/metrics');
  assert.match(text, /^nodeward_node_proxy_requests 400$/m);
  assert.match(text, /^nodeward_node_proxy_refused_total 600$/m);

  for (const session of sessions) session.destroy();
  await waitFor('the seats to be free', async () => {
    const { text } = await server.admin.request('GET', '/metrics');
    return /^nodeward_node_proxy_requests 0$/m.test(text);
  });
});

test('one user leaves room for others at a node', async () => {
  await using server = await startServer();
  await using agent = await nodeWith(server, 'node-a', () => undefined);
  await mayProxy(server, 'proxy-users');
  const [one, other] = [await userOf(server, 'one'), await userOf(server, 'other')];
  const codes: number[] = [];
  const ask = (user: typeof one) =>
    user.request('GET', proxy('node-a')).then(
      ({ code }) => codes.push(code),
      () => undefined,
    );

  for (let index = 0; index < 40; index++) void ask(one);
  await waitFor('all of one', () => agent.requests.length + codes.length === 40);
  void ask(other);

  await waitFor('that of the other', () => agent.requests.length === 26);
  assert.deepEqual(codes, new Array(15).fill(429));
  one.close();
  other.close();
});

type Server = Awaited<ReturnType<typeof startServer>>;

async function userOf(server: Server, commonName: string) {
  return server.holder(await server.issue({ commonName, organizations: ['proxy-users'] }));
}

async function mayProxy({ admin }: Server, group: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  await admin.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: group },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ kind: 'Group', apiGroup, name: group }],
  });
}
