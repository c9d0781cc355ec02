import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { startServer } from '../support/index.ts';
import { nodeWith } from './agent.ts';

const proxy = '/api/v1/nodes/node-a/proxy';

test('discovery and OpenAPI tell of the proxy as the reference does', async () => {
  await using server = await startServer();

  const { resources } = JSON.parse((await server.admin.request('GET', '/api/v1')).text);
  assert.deepEqual(
    resources.find(({ name }: { name: string }) => name === 'nodes/proxy'),
    {
      name: 'nodes/proxy',
      singularName: '',
      namespaced: false,
      kind: 'NodeProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
  );
  const { paths } = JSON.parse((await server.admin.request('GET', '/openapi/v2')).text);
  const byMethod = paths['/api/v1/nodes/{name}/proxy/{path}'];
  assert.deepEqual(Object.keys(byMethod).sort(), [
    'delete',
    'get',
    'head',
    'options',
    'parameters',
    'patch',
    'post',
    'put',
  ]);
  const { operationId, ...get } = byMethod.get;
  assert.equal(operationId, 'connectCoreV1GetNodeProxyWithPath');
  assert.equal(get['x-kubernetes-action'], 'connect');
  assert.deepEqual(get['x-kubernetes-group-version-kind'], {
    group: '',
    kind: 'NodeProxyOptions',
    version: 'v1',
  });
  assert.equal(paths['/api/v1/nodes/{name}/proxy'].post.operationId, 'connectCoreV1PostNodeProxy');
});

test('over HTTP/2 an answer in chunks passes too, both ways', async () => {
  await using server = await startServer({ http2: true });
  await using agent = await nodeWith(server, 'node-a', async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.writeHead(200, { 'transfer-encoding': 'chunked', 'keep-alive': 'timeout=5', trailer: 'x' });
    response.write(`${request.method} `);
    response.end(text);
  });
  const session = connect(`https://127.0.0.1:${server.port}`, server.admin.tlsOptions);
  const ask = (headers: Record<string, string>, body?: string) => {
    const stream = session.request({ ':path': `${proxy}/x`, ...headers }, { endStream: false });
    stream.end(body);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
    });
    stream.once('end', () => resolve(text)).once('error', reject);
    return promise;
  };

  assert.equal(await ask({ ':method': 'GET' }), 'GET ');
  assert.equal(await ask({ ':method': 'POST' }, 'body'), 'POST body');
  assert.equal(await ask({ ':method': 'POST' }), 'POST ');
  assert.equal(await ask({ ':method': 'DELETE', 'content-type': 'text/plain' }, 'x'), 'DELETE x');
  assert.equal(agent.requests.length, 4);
  session.destroy();
});

test('over HTTP/2 who goes away ends the request at the node, and what breaks off is no whole answer', async () => {
  await using server = await startServer({ http2: true });
  let ended = 0;
  await using agent = await nodeWith(server, 'node-a', (request, response) => {
    response.once('close', () => ended++);
    if (request.url === '/breaks') response.write('half', () => response.socket?.destroy());
  });
  const session = connect(`https://127.0.0.1:${server.port}`, server.admin.tlsOptions);

  const hangs = session.request({ ':path': `${proxy}/hangs` });
  hangs.on('error', () => undefined);
  await waitFor('the request', () => agent.requests.length === 1);
  hangs.close(8);
  await waitFor('its end', () => ended === 1);

  const breaks = session.request({ ':path': `${proxy}/breaks` });
  breaks.resume();
  await assert.rejects(
    new Promise((resolve, reject) => {
      breaks.once('end', resolve).once('error', reject);
    }),
  );
  session.destroy();
});

test('every request is in the audit log, with what was asked of whom and who is meant', async () => {
  await using folder = await temporaryFolder();
  const logPath = join(folder.path, 'audit.log');
  const policyFile = join(folder.path, 'policy.yaml');
  await writeFile(policyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n');
  await using server = await startServer({ audit: { policyFile, logPath } });
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => void response.end('ok'));

  await server.admin.request('POST', `${proxy}/checkpoint/a/b/c`);
  await server.stranger.request('GET', `${proxy}/configz`);

  const events = await waitFor('both', async () => {
    const lines = (await readFile(logPath, 'utf8')).split('\n').filter((line) => line.includes('/proxy/'));
    const complete = lines
      .map((line) => JSON.parse(line))
      .filter(({ stage }) => stage === 'ResponseComplete');
    return complete.length === 2 ? complete : undefined;
  });
  const shown = events.map(({ verb, user, objectRef, responseStatus }) => [
    verb,
    user.username,
    `${objectRef.resource}/${objectRef.subresource} ${objectRef.name}`,
    responseStatus.code,
  ]);
  assert.deepEqual(shown, [
    ['create', 'kubernetes-admin', 'nodes/proxy node-a', 200],
    ['get', 'stranger', 'nodes/proxy node-a', 403],
  ]);
});
