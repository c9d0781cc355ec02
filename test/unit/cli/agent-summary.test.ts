import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RunningAgent } from '../../../src/agent/index.ts';
import { describeRuntime } from '../../../src/agent/index.ts';
import { formatStopped, formatSummary, withReasonElsewhere } from '../../../src/cli/agent-summary.ts';
import type { CommandContext } from '../../../src/cli/terminal/context.ts';
import { temporaryFolder } from '../../support/index.ts';

const agent: RunningAgent = {
  nodeName: 'vm',
  url: 'https://192.0.2.7:10250',
  api: { url: 'https://127.0.0.1:6443', kubeconfig: '/root/admin.kubeconfig' },
  agentKubeconfig: undefined,
  runtime: { ready: true, networkReady: true, reason: '', message: '', version: '', name: '', endpoint: '' },
};

describe('what an agent prints when it is ready, and when it has ended', () => {
  async function summary(env: NodeJS.ProcessEnv, rootDir: string, script = '/nowhere/dist/main.js') {
    const context: Pick<CommandContext, 'env' | 'script'> = { env, script };
    return formatSummary(agent, 'ready', { rootDir, program: './nodeward' }, context);
  }

  test('says how to get kubectl where it is missing', async () => {
    await using folder = await temporaryFolder();
    const missing = await summary({ PATH: folder.path }, '/r');
    assert.match(
      missing,
      /^ {2}kubectl +is not installed: apt-get install kubernetes-client .*; \.\/nodeward --help/m,
    );
    await writeFile(join(folder.path, 'kubectl'), '');
    await chmod(join(folder.path, 'kubectl'), 0o755);
    assert.doesNotMatch(await summary({ PATH: folder.path }, '/r'), /not installed/);
  });

  test('the hint names the root folder only where ./nodeward would not find it', async () => {
    await using checkout = await temporaryFolder();
    await mkdir(join(checkout.path, 'scripts'));
    await writeFile(join(checkout.path, 'scripts/up'), '');
    const own = join(checkout.path, '.nodeward');
    await mkdir(own);
    const script = join(checkout.path, 'dist/main.js');
    assert.match(await summary({}, own, script), /^ +\.\/nodeward checkpoint NAMESPACE\/POD\/CONTAINER$/m);
    assert.match(await summary({}, '/other', script), /\.\/nodeward checkpoint --root-dir \/other NAMESPACE/);
  });

  test('ready line … runs over the terminal’s edge: why a runtime is not ready stands elsewhere', () => {
    const message = `no container runtime found: none of ${'unix:///run/some/where.sock, '.repeat(3)}exists`;
    const runtime = { ...agent.runtime, ready: false, networkReady: false, message };
    const text = describeRuntime(withReasonElsewhere(runtime, './nodeward'));
    assert.equal(text, 'container runtime, not ready: ./nodeward doctor tells why');
    const ready = { ...agent.runtime, name: 'containerd', version: '2.1.9' };
    assert.equal(describeRuntime(withReasonElsewhere(ready, './nodeward')), 'containerd 2.1.9, ready');
  });

  test('at the end it says where its state is', () => {
    assert.equal(formatStopped(join(process.cwd(), '.nodeward')), 'stopped; state in .nodeward\n');
    assert.equal(formatStopped('/var/lib/nodeward'), 'stopped; state in /var/lib/nodeward\n');
  });
});
