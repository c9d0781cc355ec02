import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { renderKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { sampleAgent, startSocket } from '../../agent/config/control-socket/socket-bench.ts';
import { admin as pair } from '../../agent/server/running-server.ts';
import { startAgent } from '../../apiserver/node-proxy/agent.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

/** A machine with the agent of node-a and its own credentials, and a control plane elsewhere. */
async function joinedNode() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const server = stack.use(await startServer());
  stack.use(await startAgent(server, 'node-a', []));
  await server.admin.request('POST', '/api/v1/nodes', { body: { metadata: { name: 'node-b' } } });
  const user = 'system:node:node-a';
  const own = await server.issue({ commonName: user, organizations: ['system:nodes'] });
  const kubeconfig = join(path, 'node.kubeconfig');
  const place = { server: server.running.url, ca: server.running.ca };
  await writeFile(kubeconfig, renderKubeconfig({ ...place, ...own, user }));
  await mkdir(join(path, 'pki'));
  await writeFile(join(path, 'pki/agent.crt'), pair.cert);
  const controlPlane = { mode: 'joining', kubeconfig, bootstrapKubeconfig: '/b' } as const;
  const agent = { ...sampleAgent(path), nodeName: 'node-a', controlPlane, kubeconfig };
  stack.use(await startSocket(path, { agent }));
  const run = (...args: string[]) => runCommandLine([...args, '--root-dir', path]);
  const more = stack.move();
  return { run, [Symbol.asyncDispose]: () => more.disposeAsync() };
}

describe('on a joined node', () => {
  test('status counts nothing that it may not look at', async () => {
    await using node = await joinedNode();
    const { code, stdout } = await node.run('status');
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^unknown +control plane +there is no .*admin\.kubeconfig: /m);
    assert.match(stdout, /^unknown +agent +the own credentials of the node node-a, .*--kubeconfig$/m);
    assert.match(stdout, /^ok +certificates/m);
    assert.match(stdout, /^2 unknown, 1 ok$/m);
  });

  test('checkpoint ls says whose credentials may not, and what is needed', async () => {
    await using node = await joinedNode();
    for (const more of [[], ['--node', 'node-b']]) {
      const { code, stdout, stderr } = await node.run('checkpoint', 'ls', ...more);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^nodeward: the own credentials of the node node-a, .* may not do this; name the kubeconfig of an administrator with --kubeconfig/,
      );
    }
  });
});
