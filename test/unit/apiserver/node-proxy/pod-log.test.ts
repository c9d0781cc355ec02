import assert from 'node:assert/strict';
import { get } from 'node:https';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import type { TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { nodeWith } from './agent.ts';

const pods = '/api/v1/namespaces/default/pods';

async function createPod(server: TestServer, name: string, change: object = {}): Promise<void> {
  const spec = { nodeName: 'node-a', containers: [{ name: 'main', image: 'i' }], ...change };
  const reply = await server.admin.request('POST', pods, { body: { metadata: { name }, spec } });
  assert.equal(reply.code, 201, reply.text);
}

/** To the one without groups. */
async function allow(server: TestServer, resource: string, verbs: readonly string[]): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const name = resource.replace('/', '-');
  const rules = [{ apiGroups: [''], resources: [resource], verbs }];
  await server.admin.request('POST', `${rbac}/roles`, { body: { metadata: { name }, rules } });
  const subjects = [{ kind: 'User', name: 'stranger', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { kind: 'Role', name, apiGroup: 'rbac.authorization.k8s.io' };
  await server.admin.request('POST', `${rbac}/rolebindings`, {
    body: { metadata: { name }, subjects, roleRef },
  });
}

describe('the log of a container', { timeout: 60_000 }, () => {
  test('comes from the agent of its node, with what was asked for', async () => {
    await using server = await startServer();
    await using agent = await nodeWith(server, 'node-a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('one\ntwo\n');
    });
    await createPod(server, 'web');
    const query =
      'follow=false&previous=true&timestamps=1&sinceSeconds=5&tailLines=0&limitBytes=100&pretty=true&other=x&stream=All';
    const { code, text } = await server.admin.request('GET', `${pods}/web/log?${query}`);
    assert.deepEqual([code, text], [200, 'one\ntwo\n']);
    const [{ url = '' } = {}] = agent.requests;
    const asked = new URL(url, 'https://agent');
    assert.equal(asked.pathname, '/containerLogs/default/web/main');
    assert.deepEqual(Object.fromEntries(asked.searchParams), {
      previous: 'true',
      timestamps: 'true',
      sinceSeconds: '5',
      tailLines: '0',
      limitBytes: '100',
      stream: 'All',
    });
  });

  test('is refused in the words of the reference', async () => {
    await using server = await startServer();
    const answers = new Map([
      [
        'waiting',
        { code: 400, text: 'container "main" in pod "waiting" is waiting to start: ContainerCreating' },
      ],
      ['gone', { code: 404, text: 'pod "gone" does not exist' }],
      ['broken', { code: 500, text: 'oh' }],
      ['odd', { code: 422, text: 'no' }],
    ]);
    await using _agent = await nodeWith(server, 'node-a', ({ url = '' }, response) => {
      const { code = 200, text = '' } = answers.get(url.split('/')[3] ?? '') ?? {};
      response.writeHead(code).end(text);
    });
    for (const name of answers.keys()) await createPod(server, name);
    const init = [{ name: 'first', image: 'i' }];
    await createPod(server, 'two', {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i' },
      ],
      initContainers: init,
    });
    await createPod(server, 'nowhere', { nodeName: undefined });
    await createPod(server, 'lost', { nodeName: 'node-b' });

    const cases: [string, number, string, string][] = [
      ['none/log', 404, 'NotFound', 'pods "none" not found'],
      [
        'two/log',
        400,
        'BadRequest',
        'a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [first]',
      ],
      ['two/log?container=c', 400, 'BadRequest', 'container c is not valid for pod two'],
      [
        'waiting/log',
        400,
        'BadRequest',
        'container "main" in pod "waiting" is waiting to start: ContainerCreating',
      ],
      ['gone/log', 404, 'NotFound', 'the server could not find the requested resource ( pods/log gone)'],
      ['broken/log', 500, 'InternalError', 'Internal error occurred: oh'],
      ['odd/log', 422, '', 'the agent of the node answered 422: no'],
      ['lost/log', 404, 'NotFound', 'nodes "node-b" not found'],
      [
        'waiting/log?tailLines=-1',
        422,
        'Invalid',
        'PodLogOptions "waiting" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      ],
      [
        'waiting/log?limitBytes=0',
        422,
        'Invalid',
        'PodLogOptions "waiting" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
      ],
      [
        'waiting/log?sinceSeconds=0',
        422,
        'Invalid',
        'PodLogOptions "waiting" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
      ],
      [
        'waiting/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
        422,
        'Invalid',
        'at most one of `sinceTime` or `sinceSeconds` may be specified',
      ],
      [
        'waiting/log?stream=Both',
        422,
        'Invalid',
        'stream: Unsupported value: "Both": supported values: "All", "Stdout", "Stderr"',
      ],
      [
        'waiting/log?stream=Stdout&tailLines=1',
        422,
        'Invalid',
        '`tailLines` and specific `stream` are mutually exclusive for now',
      ],
      [
        'waiting/log?tailLines=many',
        400,
        'BadRequest',
        'the parameter tailLines must be a whole number, not "many"',
      ],
      [
        'waiting/log?sinceTime=yesterday',
        400,
        'BadRequest',
        'the parameter sinceTime must be a time as of RFC 3339',
      ],
    ];
    for (const [path, code, reason, message] of cases) {
      const reply = await server.admin.request('GET', `${pods}/${path}`);
      const status = JSON.parse(reply.text);
      assert.deepEqual([path, reply.code, status.reason ?? ''], [path, code, reason], reply.text);
      assert.ok(status.message.includes(message), `${path}: ${status.message}`);
    }
    assert.deepEqual(
      await server.admin.request('GET', `${pods}/nowhere/log`).then(({ code, text }) => [code, text]),
      [200, ''],
    );
    assert.equal((await server.admin.request('POST', `${pods}/waiting/log`)).code, 405);
  });

  test('that is followed passes each line as it comes, and ends at the node when its reader goes', async () => {
    await using server = await startServer();
    let write: ((text: string) => void) | undefined;
    let isClosed = false;
    await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
      response.writeHead(200).flushHeaders();
      write = (text) => response.write(text);
      response.once('close', () => {
        isClosed = true;
      });
    });
    await createPod(server, 'web');
    let text = '';
    const url = `https://127.0.0.1:${server.port}${pods}/web/log?follow=true`;
    const asking = get(url, server.admin.tlsOptions, (answer) => {
      answer.on('error', () => undefined);
      answer.on('data', (piece) => {
        text += piece;
      });
    });
    asking.on('error', () => undefined);
    await waitFor('the agent is asked', () => write);
    write?.('one\n');
    await waitFor('the first line', () => text === 'one\n');
    write?.('two\n');
    await waitFor('the second line', () => text === 'one\ntwo\n');
    asking.destroy();
    await waitFor('the request to the agent ends', () => isClosed);
  });

  test('needs the right to get pods/log, and no other', async () => {
    await using server = await startServer();
    await using _agent = await nodeWith(server, 'node-a', (_request, response) =>
      response.writeHead(200).end('x'),
    );
    await createPod(server, 'web');
    await allow(server, 'pods', ['*']);
    const refused = await server.stranger.request('GET', `${pods}/web/log`);
    assert.equal(refused.code, 403);
    await allow(server, 'pods/log', ['get']);
    assert.equal((await server.stranger.request('GET', `${pods}/web/log`)).text, 'x');
    assert.match(
      refused.text,
      /cannot get resource \\"pods\/log\\" in API group \\"\\" in the namespace \\"default\\"/,
    );
  });
});
