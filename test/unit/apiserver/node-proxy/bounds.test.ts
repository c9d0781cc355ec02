import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import { StatusError } from '../../../../src/api/index.ts';
import type { NodeProxyOptions } from '../../../../src/apiserver/node-proxy/index.ts';
import { createNodeProxy } from '../../../../src/apiserver/node-proxy/index.ts';
import { createMetrics, systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { nodeStatus, servingPair, standIn } from './agent.ts';

/** The proxy by itself, behind a plain server, with bounds that a test can wait for. */
async function proxyFor(
  server: TestServer,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<NodeProxyOptions> & { untilMs?: number } = {},
) {
  await using setup = new AsyncDisposableStack();
  const agent = setup.use(await standIn(server, await servingPair(server, 'node-a'), answer));
  const pair = await server.issue({ commonName: 'kube-apiserver-kubelet-client' });
  const proxy = setup.use(
    createNodeProxy({
      ca: server.running.ca,
      identity: () => pair,
      metrics: createMetrics(),
      clock: systemClock,
      ...options,
    }),
  );
  const failures: StatusError[] = [];
  const passed: number[] = [];
  const front = createServer((request, response) => {
    const node = { metadata: { name: 'node-a' }, status: nodeStatus(agent.port) };
    proxy
      .pass({
        node,
        named: { name: 'node-a', port: undefined },
        target: request.url ?? '/',
        prefix: '/proxy',
        requester: 'alice',
        untilMs: options.untilMs ?? Number.POSITIVE_INFINITY,
        bodyLimitBytes: 1024,
        request,
        response,
        onAnswer: (code) => passed.push(code),
      })
      .catch((error: unknown) => {
        if (!(error instanceof StatusError)) throw error;
        failures.push(error);
        response.writeHead(error.code).end(error.message);
      });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  setup.defer(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
  });
  const held = setup.move();
  return {
    agent,
    failures,
    passed,
    port: (front.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function ask(port: number, path = '/'): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text })).on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

test('a node that does not answer in time is 504', async () => {
  await using server = await startServer();
  await using world = await proxyFor(server, () => undefined, { times: { readMs: 300 } });

  const { code, text } = await ask(world.port);

  assert.deepEqual([code, text], [504, 'the agent of node node-a did not answer in time']);
});

test('a caller who reads nothing for too long is cut off, and the node is told', async () => {
  await using server = await startServer();
  let ended = false;
  await using world = await proxyFor(
    server,
    (_request, response) => {
      response.once('close', () => {
        ended = true;
      });
      const more = () => {
        if (ended) return;
        response.write(Buffer.alloc(1024 * 1024));
        response.once('drain', more);
      };
      more();
    },
    { times: { stallMs: 300 } },
  );
  const socket = connect(world.port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');

  await waitFor('the end at the node', () => ended);
  socket.destroy();
});

test('an answer ends with the credential that it was asked with', async () => {
  await using server = await startServer();
  await using world = await proxyFor(server, (_request, response) => void response.write('begun'), {
    untilMs: Date.now() + 1500,
  });

  await assert.rejects(ask(world.port));
  assert.deepEqual(world.passed, [200]);
});

test('a new certificate of the control plane is shown from the next request on', async () => {
  await using server = await startServer();
  const first = await server.issue({ commonName: 'kube-apiserver-kubelet-client' });
  const second = await server.issue({ commonName: 'kube-apiserver-kubelet-client' });
  let identity = first;
  const seen: (string | undefined)[] = [];
  await using world = await proxyFor(
    server,
    ({ socket }, response) => {
      seen.push('getPeerX509Certificate' in socket ? String(serialOf(socket)) : undefined);
      response.end('ok');
    },
    { identity: () => identity },
  );

  for (const pair of [first, first, second]) {
    identity = pair;
    assert.equal((await ask(world.port)).text, 'ok');
  }

  assert.equal(seen[0], seen[1]);
  assert.notEqual(seen[1], seen[2]);
});

function serialOf(socket: object): unknown {
  const certificate: unknown = Reflect.apply(Reflect.get(socket, 'getPeerX509Certificate'), socket, []);
  return typeof certificate === 'object' && certificate !== null && Reflect.get(certificate, 'serialNumber');
}

test('connections to a node are used again', async () => {
  await using server = await startServer();
  await using world = await proxyFor(server, (_request, response) => void response.end('ok'));
  let connections = 0;
  world.agent.server.on('secureConnection', () => connections++);

  for (let round = 0; round < 10; round++) assert.equal((await ask(world.port)).text, 'ok');

  assert.equal(connections, 1);
});

test('an address that says nothing is given up, and the next is tried', async () => {
  await using server = await startServer();
  const { createServer: createTcp } = await import('node:net');
  const silent = createTcp();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const proxy = createNodeProxy({
    ca: server.running.ca,
    identity: () => pair,
    dial: { eachMs: 200, allMs: 300 },
    metrics: createMetrics(),
    clock: systemClock,
  });
  const pair = await server.issue({ commonName: 'kube-apiserver-kubelet-client' });
  const front = createServer((request, response) => {
    const { port } = silent.address() as AddressInfo;
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ type: 'InternalIP', address }));
    proxy
      .pass({
        node: { metadata: { name: 'node-a' }, status: nodeStatus(port, { addresses }) },
        named: { name: 'node-a', port: undefined },
        target: '/',
        prefix: '',
        requester: 'alice',
        untilMs: Number.POSITIVE_INFINITY,
        bodyLimitBytes: 1,
        request,
        response,
        onAnswer: () => undefined,
      })
      .catch((error: StatusError) => response.writeHead(error.code).end(error.message));
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));

  const { code, text } = await ask((front.address() as AddressInfo).port);

  assert.ok([503, 504].includes(code), text);
  assert.match(text, /127\.0\.0\.1:\d+: no answer within 200 ms; 127\.0\.0\.2:\d+: /);
  await proxy[Symbol.asyncDispose]();
  front.close();
  front.closeAllConnections();
  silent.close();
});
