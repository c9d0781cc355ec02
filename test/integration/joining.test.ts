/** A machine becomes a node by the command that `nodeward token create` prints: the real programs. */
import assert from 'node:assert/strict';
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { certificateSigningRequestKind, leaseKind, nodeKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { SupervisedProcess, TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, sendSignal, startProcess, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { kubectl } from './lab/index.ts';
import type { RunningApiServer } from './nodeward/index.ts';
import { nodeward, program, startApiServer } from './nodeward/index.ts';

const node = 'node-new';

before(ensureBuilt);

describe('the command that a token is printed with', () => {
  let home: TemporaryFolder;
  let server: RunningApiServer;
  let api: ApiClient;
  let shell: SupervisedProcess | undefined;
  let printed = '';
  const machine = () => join(home.path, 'machine');

  before(async () => {
    home = await temporaryFolder('joining-');
    server = await startApiServer(join(home.path, 'control-plane'));
    api = new ApiClient(clientOptionsOf(await readKubeconfig(server.kubeconfig)));
    const made = await nodeward(['token', 'create', '--kubeconfig', server.kubeconfig, '--node-name', node]);
    assert.equal(made.code, 0, made.stderr);
    printed = made.stdout;
  });
  after(async () => {
    await powerOff();
    await api?.close();
    await server?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  /** A machine on which `nodeward` is installed and has its folders and ports to itself. */
  async function install(): Promise<void> {
    const own = ['--lock-file', join(machine(), 'lock'), '--port', '0'];
    const runtime = ['--container-runtime-endpoint', 'unix:///nowhere/x.sock'];
    await mkdir(join(home.path, 'bin'), { recursive: true });
    await mkdir(machine(), { recursive: true });
    const command = join(home.path, 'bin/nodeward');
    const joins = `--root-dir ${machine()} --etc-dir ${machine()}/etc --no-start`;
    await writeFile(
      command,
      `#!/bin/sh
case $1 in
  join) exec ${program.join(' ')} "$@" ${joins} ;;
  *) exec ${program.join(' ')} "$@" ${[...own, ...runtime].join(' ')} ;;
esac
`,
    );
    await chmod(command, 0o755);
  }

  async function paste(): Promise<void> {
    const [command = ''] = printed.split('\n');
    const env = { ...process.env, PATH: `${join(home.path, 'bin')}:${process.env['PATH']}` };
    const joined = await runSuccessfully('bash', ['-c', command], { env });
    const [, start = ''] = / run: (nodeward agent .*)\n$/.exec(joined) ?? [];
    assert.notEqual(start, '', joined);
    shell = await startProcess('setsid', ['bash', '-c', start], { env });
  }

  async function powerOff(): Promise<void> {
    if (shell === undefined) return;
    sendSignal(-shell.pid, 'SIGKILL');
    await shell.exited;
    await shell[Symbol.asyncDispose]();
    shell = undefined;
  }

  test('makes a node of the machine', async () => {
    await install();
    await paste();
    const { metadata } = await waitFor('the node', () => api.get(nodeKind, node), { timeoutMs: 30_000 });
    assert.equal(metadata?.name, node);
    await waitFor('its Lease', () => api.get(leaseKind, node, { namespace: 'kube-node-lease' }));
    assert.equal((await stat(join(machine(), 'etc/bootstrap.kubeconfig'))).mode & 0o777, 0o600);
  });

  test('waits on a machine that was installed anew while the old one may live, and goes on when it is approved', async () => {
    await powerOff();
    await rm(machine(), { recursive: true, force: true });
    await install();
    await paste();
    const waiting = await waitFor('a request that waits', async () => {
      const { items } = await api.list(certificateSigningRequestKind);
      return items.find(({ status }) => status?.conditions?.some(({ type }) => type === 'Waiting'));
    });
    assert.equal(waiting.status?.certificate, undefined);
    const request = waiting.metadata?.name ?? '';
    const told = new RegExp(
      `^nodeward is not ready yet: the request ${request} for its client certificate waits for approval .*: kubectl certificate approve ${request}$`,
      'm',
    );
    await shell?.waitForOutput(told, { timeoutMs: 30_000 });
    assert.doesNotMatch(shell?.stdout ?? '', /nodeward is ready/);
    await waitFor('the reason in the log', () =>
      new RegExp(
        `renew the node.s lease, trying on: this node has no client certificate yet: the request ${request}`,
      ).test(shell?.stderr ?? ''),
    );
    const tool = kubectl(server.kubeconfig, home.path);
    const { code, stderr } = await tool.run(['certificate', 'approve', waiting.metadata?.name ?? '']);
    assert.equal(code, 0, stderr);
    const own = join(machine(), 'node.kubeconfig');
    await waitFor('credentials of its own', () => stat(own), { timeoutMs: 30_000 });
    await shell?.waitForOutput(/^nodeward is ready\n/m, { timeoutMs: 60_000 });
    await using self = new ApiClient(clientOptionsOf(await readKubeconfig(own)));
    assert.equal((await self.get(nodeKind, node)).metadata?.name, node);
  });
});
