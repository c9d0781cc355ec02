/** Two machines, from `token create` on the one to Ready on the other: with a real systemd, and in the foreground. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import type { CommandResult, TemporaryFolder } from '../support/index.ts';
import { runCommand, startProcess, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import type { Kubectl, LabContainerd, LabMachine } from './lab/index.ts';
import { bootSystemd, kubectl, startContainerd } from './lab/index.ts';
import type { RunningApiServer } from './nodeward/index.ts';
import { nodeward, program, startApiServer } from './nodeward/index.ts';
import type { HostNetwork } from './two-agents-network.ts';
import { hostNetwork, whyNoNetwork } from './two-agents-network.ts';

const skip = (await whyNoNetwork()) ?? false;

before(ensureBuilt);

describe('a machine joins by the command that token create prints', { skip }, () => {
  const stack = new AsyncDisposableStack();
  let home: TemporaryFolder;
  let network: HostNetwork;
  let runtime: LabContainerd;
  let server: RunningApiServer;
  let tool: Kubectl;

  before(async () => {
    home = stack.use(await temporaryFolder('joining-'));
    network = stack.use(await hostNetwork(['edge']));
    runtime = stack.use(await startContainerd({ cni: true }));
    server = stack.use(
      await startApiServer(join(home.path, 'control-plane'), { args: ['--bind-address', network.hub] }),
    );
    tool = kubectl(server.kubeconfig, home.path);
  });
  after(async () => await stack.disposeAsync());

  /** The command, as words; `nodeward` is left out. */
  async function createToken(...args: string[]): Promise<string[]> {
    const made = await nodeward(['token', 'create', '--kubeconfig', server.kubeconfig, ...args]);
    assert.equal(made.code, 0, made.stderr);
    const [command = ''] = made.stdout.split('\n');
    assert.match(command, new RegExp(`^nodeward join ${network.hub.replaceAll('.', '\\.')}:\\d+ --token `));
    return command.split(' ').slice(1);
  }

  const untilReady = (node: string) =>
    waitFor(
      `${node} to be Ready`,
      async () => new RegExp(`^${node} +Ready `, 'm').test((await tool.run(['get', 'nodes'])).stdout),
      { timeoutMs: 40_000, intervalMs: 250 },
    );

  test('in the foreground where there is no systemd, over a network of its own', async () => {
    const rootDir = join(home.path, 'edge');
    const place = ['--root-dir', rootDir, '--etc-dir', join(rootDir, 'etc'), '--no-start'];
    const inside = (argv: readonly string[]) => ['netns', 'exec', network.namespaceOf('edge'), ...argv];
    const args = await createToken('--node-name', 'edge');
    const joined = await runCommand('ip', inside([...program, ...args, ...place]), { timeoutMs: 60_000 });
    assert.equal(joined.code, 0, joined.stderr);
    const [, start = ''] = / run: nodeward (agent .*)\n$/.exec(joined.stdout) ?? [];
    const own = ['--lock-file', join(rootDir, 'lock'), '--container-runtime-endpoint', runtime.endpoint];
    await using agent = await startProcess('ip', inside([...program, ...start.split(' '), ...own]));
    await untilReady('edge');
    assert.equal((await stat(join(rootDir, 'etc/bootstrap.kubeconfig'))).mode & 0o777, 0o600);
    const again = await runCommand('ip', inside([...program, ...args, ...place]), { timeoutMs: 60_000 });
    assert.match(again.stdout, /this machine has joined already/);
    await agent.stop();
  });

  for (const root of ['bookworm', 'trixie'] as const) {
    test(`with the systemd of ${root}, which enables and starts the agent`, async () => {
      const name = `node-${root}`;
      await using machine = await bootMachine(root);
      const run = (argv: string[]) => machine.run(argv, { timeoutMs: 120_000 });
      try {
        const args = await createToken('--node-name', name);
        const wrong = args.map((word) => (word.startsWith('sha256:') ? `sha256:${'0'.repeat(64)}` : word));
        assert.equal((await run(['nodeward', ...wrong])).code, exitCodes.failed);
        await succeed(run(['nodeward', ...args]), /the agent runs, and has its certificate\n$/);
        await untilReady(name);
        assert.equal((await machine.sh('systemctl is-enabled nodeward')).trim(), 'enabled');
        const pid = (await machine.show('nodeward.service', 'MainPID'))['MainPID'];
        await succeed(run(['nodeward', ...args]), /has joined already/);
        assert.equal((await machine.show('nodeward.service', 'MainPID'))['MainPID'], pid, 'it runs on');
        await succeed(run(['nodeward', 'doctor', '--only', 'control-plane,agent-port']), /has the Node/);
        // the next machine has the same address, which is certified to no node while two have it
        await machine.sh('systemctl stop nodeward');
        assert.equal((await tool.run(['delete', 'node', name])).code, 0);
      } catch (error) {
        throw new Error(`${String(error)}\n${await machine.journal('nodeward.service')}`, { cause: error });
      }
    });
  }

  async function bootMachine(root: 'bookworm' | 'trixie'): Promise<LabMachine> {
    const seed = join(home.path, `seed-${root}`);
    const installed = await runInstall([], seed);
    assert.equal(installed.code, 0, installed.stderr);
    return await bootSystemd({
      root,
      seed,
      hostNetwork: true,
      files: { '/etc/nodeward/agent.env': 'NODEWARD_FLAGS="--port=0"\n' },
      binds: { '/run/containerd/containerd.sock': runtime.socket },
    });
  }
});

async function succeed(running: Promise<CommandResult>, pattern: RegExp): Promise<void> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(stdout, pattern);
}
