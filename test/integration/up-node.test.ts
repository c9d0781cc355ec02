/** A node that `scripts/up` has made, as kubectl shows it while time passes: what up.test.ts need not wait for alone. */
// lane: waiting (for heartbeats that are 10 s apart)
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl, LabContainerd } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { startAgent } from './nodeward/index.ts';
import { outputOf, readyCondition } from './ready-condition.ts';

before(ensureBuilt);

describe('the node of scripts/up', { concurrency: true }, () => {
  const stack = new AsyncDisposableStack();
  let runtime: LabContainerd;
  let agent: RunningAgent;
  let tool: Kubectl;

  before(async () => {
    const home = stack.use(await temporaryFolder('up-'));
    runtime = stack.use(await startContainerd({ cni: true }));
    const args = ['--container-runtime-endpoint', runtime.endpoint];
    agent = stack.use(await startAgent({ rootDir: join(home.path, 'root'), args }));
    tool = kubectl(agent.summary.kubeconfig ?? '', home.path);
  });
  after(() => stack.disposeAsync());

  test('the lease is renewed every 10 s', async () => {
    const { node } = agent.summary;
    const renewed = async (): Promise<number> => {
      const text = await outputOf(
        tool.run(['get', 'lease', '-n', 'kube-node-lease', node, '-o', 'jsonpath={.spec.renewTime}']),
      );
      return Date.parse(text);
    };
    const laterThan = (before: number) =>
      waitFor('the lease to be renewed', async () => (await renewed()) > before && renewed(), {
        timeoutMs: 20_000,
        intervalMs: 250,
      });
    const first = await laterThan(await laterThan(0));
    const second = await laterThan(first);
    assert.ok(second - first > 8000 && second - first < 13_000, `${second - first} ms`);
  });

  test('kubectl get nodes -w follows the runtime’s going and coming', async () => {
    await using watch = await tool.start(['get', 'nodes', '--watch']);
    await watch.waitForOutput(/ Ready /);
    await runtime.stop();
    await watch.waitForOutput(/ NotReady /, { timeoutMs: 20_000 });
    const [status, reason, message = ''] = await readyCondition(tool, agent.summary.node);
    assert.deepEqual([status, reason], ['False', 'KubeletNotReady']);
    assert.match(message, /container runtime is down/);
    await runtime.restart();
    await watch.waitForOutput(/ NotReady (.|\n)* Ready /, { timeoutMs: 30_000 });
  });
});
