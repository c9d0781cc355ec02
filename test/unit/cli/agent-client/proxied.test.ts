import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeWith } from '../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const pods = '/api/v1/namespaces/default/pods';

test('a checkpoint goes through the control plane to the node of its pod', async () => {
  await using server = await startServer();
  await using one = await nodeWith(server, 'node-one', (_request, response) => void response.end());
  await using two = await nodeWith(server, 'node-two', (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items: ['/checkpoints/a.tar'] }));
  });
  await server.admin.must('POST', pods, {
    metadata: { name: 'web' },
    spec: { nodeName: 'node-two', containers: [{ name: 'main', image: 'some' }] },
  });
  const kubeconfig = ['--kubeconfig', server.running.kubeconfig];

  const found = await runCommandLine(['checkpoint', 'default/web/main', '--timeout', '7', ...kubeconfig]);

  assert.deepEqual(found, { code: 0, stdout: '/checkpoints/a.tar\n', stderr: '' });
  assert.equal(one.requests.length, 0);
  const [request] = two.requests;
  assert.equal(`${request?.method} ${request?.url}`, 'POST /checkpoint/default/web/main?timeout=7');
  assert.equal(request?.headers['nodeward-requester'], 'kubernetes-admin');

  const named = await runCommandLine(['checkpoint', 'a/b/c', '--node', 'node-two', ...kubeconfig]);
  assert.equal(named.code, 0, named.stderr);
});

test('a pod that the control plane does not know needs its node named, where there are several', async () => {
  await using server = await startServer();
  await using _one = await nodeWith(server, 'node-one', (_request, response) => void response.end());
  await using _two = await nodeWith(server, 'node-two', (_request, response) => void response.end());

  const { code, stderr } = await runCommandLine([
    ...['checkpoint', 'default/web/main', '--kubeconfig', server.running.kubeconfig],
  ]);

  assert.equal(code, 2);
  assert.match(
    stderr,
    /the control plane knows no node of pod default\/web, and name one with --node: node-one, node-two/,
  );
});

test('what the control plane refuses is told in its words, and what the agent refuses in the agent’s', async () => {
  await using server = await startServer();
  await using _agent = await nodeWith(server, 'node-a', (_request, response) => {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('pod does not exist');
  });
  const ask = (node: string) =>
    runCommandLine(['checkpoint', 'a/b/c', '--kubeconfig', server.running.kubeconfig, '--node', node]);

  assert.deepEqual(await ask('nobody'), {
    code: 1,
    stdout: '',
    stderr: 'nodeward: nodes "nobody" not found\n',
  });
  const { stderr } = await ask('node-a');
  assert.match(
    stderr,
    /^nodeward: the agent at https:\S+\/proxy answered 404: pod does not exist \(namespace "a", pod "b", container "c"\)\n$/,
  );
});
