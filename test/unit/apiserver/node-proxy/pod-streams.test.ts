import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { streamRoutes } from '../../../../src/agent/pods/streams/index.ts';
import type { StreamCalls } from '../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { SpdyClient } from '../../../../src/base/streams/index.ts';
import { waitFor } from '../../../support/index.ts';
import { SpdyServer } from '../../../support/spdy-server.ts';
import type { ApiTester, TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { nodeWith, startAgent } from './agent.ts';

const pods = '/api/v1/namespaces/default/pods';
const spdy = {
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': ['v4.channel.k8s.io', 'v3.channel.k8s.io'],
};
const agreed =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n';

async function createPod(server: TestServer, name = 'web', nodeName = 'node-a') {
  const containers = [{ name: 'main', image: 'i' }];
  const body = { metadata: { name }, spec: { nodeName, containers } };
  const reply = await server.admin.request('POST', pods, { body });
  assert.equal(reply.code, 201, reply.text);
}

type Answer = { code: number; text: string } | { response: IncomingMessage; socket: Socket };

/** Asks for a stream: the connection, or what was answered instead. */
function open(
  { tlsOptions }: Pick<ApiTester, 'tlsOptions'>,
  port: number,
  path: string,
  method = 'POST',
  headers: object = spdy,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = httpsRequest({
      ...tlsOptions,
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { ...headers },
      agent: false,
    });
    asking.once('error', reject);
    asking.once('upgrade', (response, socket: Socket) => resolve({ response, socket }));
    asking.once('response', (response) => {
      let text = '';
      response.on('data', (piece) => {
        text += piece;
      });
      response.once('end', () => resolve({ code: response.statusCode ?? 0, text }));
    });
    asking.end();
  });
}

async function openStream(
  server: TestServer,
  path: string,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const answer = await open(server.admin, server.port, path);
  assert.ok('socket' in answer, JSON.stringify(answer));
  return answer;
}

/** An agent that says every byte back. */
async function echoingNode(server: TestServer) {
  const agent = await nodeWith(server, 'node-a', (_request, response) =>
    response.writeHead(400).end('no upgrade'),
  );
  const streams: { request: IncomingMessage; socket: Duplex }[] = [];
  agent.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    streams.push({ request, socket });
    socket.on('error', () => undefined);
    socket.write(agreed);
    socket.pipe(socket);
  });
  return { streams, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() };
}

describe('a stream into a pod', { timeout: 60_000 }, () => {
  test('that is asked for behind a request without an answer ends its connection, and no more', async () => {
    await using server = await startServer();
    const { ca } = server.admin.tlsOptions;
    using rude = await RawConnection.open({ host: '127.0.0.1', port: server.port, ca });
    const asks = [
      'GET /version HTTP/1.1\r\nHost: a\r\n',
      'GET /api/v1/nodes/a/proxy HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n',
    ];
    rude.write(asks.map((ask) => `${ask}\r\n`).join(''));
    await rude.untilClosed();
    assert.equal((await server.admin.request('GET', '/version')).code, 200);
  });

  test('is joined with one to its agent, with what was asked for', async () => {
    await using server = await startServer();
    await using node = await echoingNode(server);
    await createPod(server);
    const query = 'command=sh&command=-c&command=echo%20%26&stdin=true&stdout=true&stderr=false&tty=1';
    const { response, socket } = await openStream(server, `${pods}/web/exec?${query}`);
    assert.equal(response.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
    const [{ request } = {}] = node.streams;
    const url = new URL(request?.url ?? '', 'https://agent');
    assert.equal(url.pathname, '/exec/default/web/main');
    assert.deepEqual(
      [...url.searchParams],
      [
        ['input', '1'],
        ['output', '1'],
        ['tty', '1'],
        ['command', 'sh'],
        ['command', '-c'],
        ['command', 'echo &'],
      ],
    );
    assert.deepEqual(
      request?.headersDistinct['x-stream-protocol-version'],
      spdy['x-stream-protocol-version'],
    );
    assert.equal(request?.headers.authorization, undefined);
    const bytes = randomBytes(8 * 1024 * 1024);
    socket.write(bytes);
    const hash = createHash('sha256');
    let length = 0;
    for await (const piece of socket) {
      hash.update(piece);
      length += piece.length;
      if (length === bytes.length) break;
    }
    assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'));
  });

  test('ends at one side when the other one goes', async () => {
    await using server = await startServer();
    await using node = await echoingNode(server);
    await createPod(server);
    const first = await openStream(server, `${pods}/web/attach?stdin=true`);
    assert.match(node.streams[0]?.request.url ?? '', /^\/attach\/default\/web\/main\?input=1$/);
    first.socket.destroy();
    await waitFor('the agent’s side to close', () => node.streams[0]?.socket.destroyed);
    const second = await openStream(server, `${pods}/web/portforward?ports=80&ports=81`);
    assert.equal(node.streams[1]?.request.url, '/portForward/default/web?port=80%2C81');
    node.streams[1]?.socket.end('the last words');
    let text = '';
    for await (const piece of second.socket) text += String(piece);
    assert.equal(text, 'the last words');
  });

  test('is refused without an upgrade, a pod, a container, a node, and by the agent', async () => {
    await using server = await startServer();
    await using _node = await nodeWith(server, 'node-a', (_request, response) =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('container not found ("main")'),
    );
    await createPod(server);
    await createPod(server, 'nowhere', '');
    const plain = await server.admin.request('POST', `${pods}/web/exec?stdout=true`);
    assert.deepEqual([plain.code, JSON.parse(plain.text).message], [400, 'Upgrade request required']);
    const cases: [string, number, RegExp][] = [
      ['none/exec?stdout=true', 404, /pods \\"none\\" not found/],
      ['web/exec?container=c&stdout=true', 400, /container c is not valid for pod web/],
      ['nowhere/exec?stdout=true', 400, /pod nowhere does not have a host assigned/],
      ['web/exec?stdout=true', 404, /^container not found \("main"\)$/],
    ];
    for (const [path, code, text] of cases) {
      const answer = await open(server.admin, server.port, `${pods}/${path}`);
      assert.ok('code' in answer, path);
      assert.deepEqual([answer.code, text.test(answer.text)], [code, true], answer.text);
    }
    const put = await open(server.admin, server.port, `${pods}/web/exec`, 'PUT');
    assert.ok('code' in put && put.code === 405);
  });

  test('needs the right to create it, by GET too', async () => {
    await using server = await startServer();
    await using _node = await echoingNode(server);
    await createPod(server);
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const grant = async (name: string, verbs: string[]) => {
      const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs }];
      await server.admin.request('POST', `${rbac}/roles`, { body: { metadata: { name }, rules } });
      const body = {
        metadata: { name },
        subjects: [{ kind: 'User', name: 'stranger', apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { kind: 'Role', name, apiGroup: 'rbac.authorization.k8s.io' },
      };
      await server.admin.request('POST', `${rbac}/rolebindings`, { body });
    };
    await grant('reader', ['get']);
    const path = `${pods}/web/exec?stdout=true&command=id`;
    for (const method of ['GET', 'POST']) {
      const answer = await open(server.stranger, server.port, path, method);
      assert.ok('code' in answer && answer.code === 403, method);
      assert.match(answer.text, /cannot create resource \\"pods\/exec\\"/);
    }
    await grant('runner', ['create']);
    for (const method of ['GET', 'POST']) {
      const answer = await open(server.stranger, server.port, path, method);
      assert.ok('socket' in answer, method);
      answer.socket.destroy();
    }
  });

  test('ends when the server stops', async () => {
    await using server = await startServer();
    await using node = await echoingNode(server);
    await createPod(server);
    const { socket } = await openStream(server, `${pods}/web/exec?stdout=true`);
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await server.stop();
    await closed;
    await waitFor('the agent’s side to close', () => node.streams[0]?.socket.destroyed);
  });
});

describe('the agent’s paths of streams', { timeout: 60_000 }, () => {
  const pod = {
    metadata: { namespace: 'default', name: 'web', uid: 'u' },
    spec: { containers: [{ name: 'main', image: 'i' }] },
  };

  async function startStreams(calls: Partial<StreamCalls>, state: 'running' | 'exited' = 'running') {
    const server = await startServer();
    const refuse = () => Promise.reject(new Error('not expected'));
    const container = {
      ...{ id: 'c1', name: 'main', sandboxId: 's1', attempt: 0, state, createdMs: 1, startedMs: 1 },
      ...{
        finishedMs: undefined,
        exitCode: 0,
        reason: '',
        message: '',
        image: 'i',
        imageRef: 'i',
        imageId: 'i',
      },
      ...{ logPath: '', annotations: {}, user: undefined, resources: undefined, mounts: [] },
    };
    const sandbox = {
      id: 's1',
      attempt: 0,
      isReady: true,
      createdMs: 1,
      ips: [],
      network: 'pod' as const,
      runtimeHandler: '',
      labels: {},
      annotations: {},
    };
    const view = {
      uid: 'u',
      namespace: 'default',
      name: 'web',
      sandboxes: [sandbox],
      containers: [container],
    };
    const routes = streamRoutes({
      find: (namespace, name) => (namespace === 'default' && name === 'web' ? pod : undefined),
      view: { pod: () => view },
      calls: { exec: refuse, attach: refuse, portForward: refuse, ...calls },
      idleMs: () => 60_000,
      clock: systemClock,
    });
    const agent = await startAgent(server, 'node-a', routes);
    return {
      server,
      ask: (path: string, method?: string, headers?: object) =>
        open(server.admin, agent.port, path, method, headers),
      stopAgent: () => agent[Symbol.asyncDispose](),
      async [Symbol.asyncDispose]() {
        await agent[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  test('ask the runtime for what the client wants, and say what cannot be', async () => {
    const asked: unknown[] = [];
    await using it = await startStreams({
      async exec(id, command, wishes) {
        asked.push([id, command, wishes]);
        throw new RuntimeError('failed', 'exec: no such thing');
      },
      async portForward(id, ports) {
        asked.push([id, ports]);
        throw new RuntimeError('notFound', 'the sandbox is gone');
      },
    });
    const answerOf = async (path: string, method?: string, headers?: object) => {
      const answer = await it.ask(path, method, headers);
      return 'code' in answer ? `${answer.code} ${answer.text}` : 'a stream';
    };
    assert.equal(
      await answerOf('/exec/default/web/main?output=1&error=1&tty=1&command=a&command=b'),
      '500 exec: no such thing',
    );
    assert.equal(await answerOf('/portForward/default/web/u?port=80,81', 'GET'), '404 the sandbox is gone');
    assert.deepEqual(asked, [
      ['c1', ['a', 'b'], { stdin: false, stdout: true, stderr: false, tty: true }],
      ['s1', [80, 81]],
    ]);
    assert.equal(
      await answerOf('/exec/default/web/main?command=a'),
      '400 you must specify at least 1 of stdin, stdout, stderr',
    );
    assert.equal(await answerOf('/exec/default/web/none?output=1'), '404 container not found ("none")');
    assert.equal(await answerOf('/exec/default/none/main?output=1'), '404 pod does not exist');
    assert.equal(await answerOf('/exec/default/web/other/main?output=1'), '404 pod does not exist');
    assert.match(
      await answerOf('/portForward/default/web?port=70000', 'GET'),
      /^400 port "70000" is not a port/,
    );
    assert.match(
      await answerOf('/exec/default/web/main?output=1', 'POST', {}),
      /^400 unable to upgrade: missing upgrade headers/,
    );
    assert.match(await answerOf('/exec/default/web/main?output=1', 'DELETE'), /^405 /);
  });

  test('say that the agent stops to whom a stream goes through it', async () => {
    const runtime = createServer();
    const stream = Promise.withResolvers<SpdyServer>();
    runtime.once('upgrade', (_request, socket) => {
      socket.write(agreed);
      stream.resolve(new SpdyServer(socket));
    });
    await once(runtime.listen(0, '127.0.0.1'), 'listening');
    const address = runtime.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await using it = await startStreams({ exec: async () => `http://127.0.0.1:${port}/exec/token` });
    const answer = await it.ask('/exec/default/web/main?output=1');
    assert.ok('socket' in answer);
    let error = '';
    const onEnd = () => undefined;
    const onData = (piece: Buffer) => {
      error += String(piece);
    };
    new SpdyClient(answer.socket).open({ streamtype: 'error' }, { onData, onEnd });
    const served = await stream.promise;
    await waitFor('the stream', () => served.find('error'));
    await it.stopAgent();
    await waitFor('the reason', () => error.includes('"message":"the agent of the node is stopping"'));
    runtime.close();
  });

  test('say that a container does not run', async () => {
    await using it = await startStreams({}, 'exited');
    const answer = await it.ask('/attach/default/web/main?output=1');
    assert.deepEqual(answer, { code: 404, text: 'container not found ("main"): it does not run' });
  });
});
