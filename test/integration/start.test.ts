/** How the agent starts and stops where something that it needs is away, hangs, or is held by another. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../src/api/index.ts';
import { leaseKind, nodeKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabContainerd } from './lab/index.ts';
import { startContainerd } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { interrupt, launchAgent, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

const name = 'start-node';
/** A quarter of how long the lease is good for. */
const heartbeatMs = 2000;
const configuration = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: ${(4 * heartbeatMs) / 1000}
`;

function conditionOf(node: Node, type: string) {
  const found = node.status?.conditions?.find((condition) => condition.type === type);
  assert.ok(found, `the node has a condition ${type}`);
  return found;
}

describe('a runtime that hangs', () => {
  let home: TemporaryFolder;
  let runtime: LabContainerd;
  let agent: RunningAgent;
  let api: ApiClient;
  const start = async (): Promise<void> => {
    const config = join(home.path, 'config.yaml');
    await writeFile(config, configuration);
    const place = ['--hostname-override', name, '--container-runtime-endpoint', runtime.endpoint];
    const args = ['--config', config, ...place];
    agent = await startAgent({ rootDir: join(home.path, 'root'), args });
    const { kubeconfig = '' } = agent.summary;
    api = createClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
  };
  const node = () => api.get(nodeKind, name);
  const readyIs = (status: string) =>
    waitFor(
      `Ready to be ${status}`,
      async () => {
        const ready = conditionOf(await node(), 'Ready');
        return ready.status === status ? ready : undefined;
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
  const renewTime = async () => {
    const lease = await api.get(leaseKind, name, { namespace: 'kube-node-lease' });
    return Date.parse(lease.spec?.renewTime ?? '');
  };

  before(async () => {
    home = await temporaryFolder('start-');
    runtime = await startContainerd();
    await start();
  });
  after(async () => {
    sendSignal(runtime.pid, 'SIGCONT');
    await api?.close();
    await agent?.[Symbol.asyncDispose]();
    await runtime?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('answers at first, and the Node shows its images, handlers and disks', async () => {
    await waitFor('the images', async () => ((await node()).status?.images?.length ?? 0) > 0, {
      timeoutMs: 30_000,
      intervalMs: 200,
    });
    const { status } = await node();
    assert.match(status?.images?.[0]?.names?.join() ?? '', /busybox/);
    assert.ok((status?.images?.[0]?.sizeBytes ?? 0) > 0);
    assert.ok(status?.runtimeHandlers?.some(({ features }) => features !== undefined));
    for (const name of ['cpu', 'memory', 'pods', 'ephemeral-storage'])
      assert.ok(status?.capacity?.[name], `capacity tells ${name}`);
    assert.equal(conditionOf(await node(), 'DiskPressure').status, 'False');
  });

  test('makes the node not ready, with the reason; heartbeats go on; Ctrl-C ends the agent within 3 s', async () => {
    sendSignal(runtime.pid, 'SIGSTOP');
    const ready = await waitFor(
      'the reason',
      async () => {
        const found = conditionOf(await node(), 'Ready');
        return found.message?.includes('RuntimeTimeout') ? found : undefined;
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
    assert.equal(ready.status, 'False');
    const before = await renewTime();
    await waitFor('two heartbeats', async () => (await renewTime()) - before > 1.5 * heartbeatMs, {
      timeoutMs: 30_000,
      intervalMs: 200,
    });
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0, agent.process.stderr);
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
  });

  test('at the start keeps nothing from starting, and is noticed when it answers again', async () => {
    await api.close();
    await start(); // far within the time that a call of the runtime may take
    const ready = await readyIs('False');
    assert.match(ready.message ?? '', /RuntimeTimeout|may not have completed yet/);
    sendSignal(runtime.pid, 'SIGCONT');
    await waitFor(
      'the answer',
      async () => !(conditionOf(await node(), 'Ready').message ?? '').includes('RuntimeTimeout'),
      {
        timeoutMs: 30_000,
        intervalMs: 100,
      },
    );
  });
});

describe('ready', () => {
  test('means without any API that the agent’s port answers', async () => {
    await using home = await temporaryFolder('start-');
    const nowhere = `unix://${join(home.path, 'nowhere.sock')}`;
    const args = ['--embedded-control-plane=false', '--container-runtime-endpoint', nowhere];
    await using agent = await startAgent({ rootDir: home.path, args });
    const kubeconfig = await readKubeconfig(join(home.path, 'agent.kubeconfig'));
    await using client = createClient(clientOptionsOf(kubeconfig));
    const { code, body } = await client.request({ method: 'GET', path: '/configz' });
    assert.equal(code, 200, body);
    assert.equal((await agent.interrupt()).code, 0);
  });
});

test('Ctrl-C while the agent waits for the lock of another is an end in order', async () => {
  await using home = await temporaryFolder('start-');
  const lockFile = join(home.path, 'lock');
  const args = [
    '--embedded-control-plane=false',
    '--lock-file',
    lockFile,
    '--exit-on-lock-contention',
    '--container-runtime-endpoint',
    `unix://${join(home.path, 'nowhere.sock')}`,
  ];
  await using first = await startAgent({ rootDir: join(home.path, 'one'), args });
  sendSignal(first.pid, 'SIGSTOP'); // it would give the lock away, and cannot
  try {
    await using second = await launchAgent({ rootDir: join(home.path, 'two'), args });
    await second.waitForOutput(/waiting for process|looking whether/);
    const { code, tookMs } = await interrupt(second);
    assert.equal(code, 0, second.stderr);
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
  } finally {
    sendSignal(first.pid, 'SIGCONT');
  }
});
