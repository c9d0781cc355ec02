/** A node that falls silent, as an administrator sees it with kubectl: the real control plane, agent and runtime. */
// lane: waiting (what a silent node held is removed after most of a minute)
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseKind, nodeKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl, LabContainerd } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import type { RunningAgent, RunningApiServer } from './nodeward/index.ts';
import { startAgent, startApiServer } from './nodeward/index.ts';

const heartbeatSeconds = 2;
/** Longer than an agent's heartbeats are apart, also where the machine is busy. */
const graceSeconds = 8;
const agentConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: ${4 * heartbeatSeconds}
nodeStatusUpdateFrequency: ${heartbeatSeconds}s
nodeStatusReportFrequency: 5m
`;
const agentNode = 'node-agent';
const steadyNode = 'node-steady';
const domain = 'example.org';
const tainted = `node.${domain}/unreachable:NoSchedule node.${domain}/unreachable:NoExecute `;

before(ensureBuilt);

/** A node that only renews its lease, until it is stopped: where no node is ready, nobody is given up. */
async function keepAlive(kubeconfig: string, signal: AbortSignal): Promise<void> {
  await using api = new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
  await api.create(nodeKind, { metadata: { name: steadyNode }, status: { conditions } });
  const place = { name: steadyNode, namespace: 'kube-node-lease' };
  const renewed = () => ({ holderIdentity: steadyNode, renewTime: new Date().toISOString() });
  let lease = await api.create(leaseKind, { metadata: place, spec: renewed() });
  while (!signal.aborted) {
    await sleep(500);
    lease = await api.replace(leaseKind, { ...lease, spec: renewed() });
  }
}

describe('a node that falls silent', () => {
  let home: TemporaryFolder;
  let runtime: LabContainerd;
  let server: RunningApiServer;
  let agent: RunningAgent;
  let tool: Kubectl;
  let steady: Promise<void> = Promise.resolve();
  const stop = new AbortController();

  before(async () => {
    home = await temporaryFolder('lifecycle-');
    runtime = await startContainerd({ cni: true });
    const seconds = ['not-ready', 'unreachable'].map(
      (trouble) => `--default-${trouble}-toleration-seconds=0`,
    );
    const flags = [`--node-monitor-grace-period=${graceSeconds}s`, '--node-monitor-period=500ms', ...seconds];
    server = await startApiServer(join(home.path, 'control-plane'), {
      args: [...flags, `--taint-domain=${domain}`],
    });
    tool = kubectl(server.kubeconfig, home.path);
    steady = keepAlive(server.kubeconfig, stop.signal);
    const place = ['--kubeconfig', server.kubeconfig, '--container-runtime-endpoint', runtime.endpoint];
    const config = join(home.path, 'agent.yaml');
    await writeFile(config, agentConfig);
    const own = ['--config', config, '--hostname-override', agentNode];
    agent = await startAgent({ rootDir: join(home.path, 'agent'), args: [...place, ...own] });
  });
  after(async () => {
    stop.abort();
    await steady;
    if (agent !== undefined) sendSignal(agent.pid, 'SIGCONT');
    await agent?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await runtime?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  async function output(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await tool.run(argv);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Waits until `kubectl get nodes` shows a node so; answers how long that took. */
  async function shows(node: string, state: 'Ready' | 'NotReady', timeoutMs: number): Promise<number> {
    const startedMs = performance.now();
    const line = new RegExp(`^${node} +${state} `, 'm');
    const isShown = async () => line.test(await output('get', 'nodes'));
    await waitFor(`${node} to be ${state}`, isShown, { timeoutMs, intervalMs: 250 });
    return performance.now() - startedMs;
  }

  const taintsOf = async (node: string) =>
    await output('get', 'node', node, '-o', 'jsonpath={range .spec.taints[*]}{.key}:{.effect} {end}');

  async function createPod(name: string, nodeName: string, tolerations: object[]): Promise<void> {
    const spec = { nodeName, tolerations, containers: [{ name: 'main', image: 'example.com/image:1' }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec };
    const { code, stderr } = await tool.run(['create', '-f', '-'], { input: JSON.stringify(pod) });
    assert.equal(code, 0, stderr);
  }

  test('is NotReady after its time, tainted, and loses the pods that do not tolerate that', async () => {
    await shows(agentNode, 'Ready', 30_000);
    await waitFor('no taints', async () => (await taintsOf(agentNode)) === '');
    await createPod('plain', agentNode, []);
    await createPod('tolerant', agentNode, [{ operator: 'Exists', effect: 'NoExecute' }]);
    await createPod('elsewhere', steadyNode, []);

    sendSignal(agent.pid, 'SIGSTOP');
    const tookMs = await shows(agentNode, 'NotReady', (graceSeconds + 15) * 1000);
    assert.ok(tookMs > (graceSeconds - 1.1 * heartbeatSeconds - 1) * 1000, `${tookMs} ms`); // its last heartbeat may be as old
    const because = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}';
    assert.equal(await output('get', 'node', agentNode, '-o', because), 'NodeStatusUnknown');
    await waitFor('both taints', async () => (await taintsOf(agentNode)) === tainted);
    const going = async () =>
      await output('get', 'pods', '-o', 'jsonpath={.items[?(@.metadata.deletionTimestamp)].metadata.name}');
    assert.equal(await waitFor('a pod to be evicted', going), 'plain');
    assert.match(await output('describe', 'pod', 'plain'), /DisruptionTarget/);
    await shows(steadyNode, 'Ready', 5000);
    assert.equal(await taintsOf(steadyNode), '');
  });

  test('and back again is Ready, without taints; who stayed stays', async () => {
    sendSignal(agent.pid, 'SIGCONT');
    await shows(agentNode, 'Ready', 30_000);
    await waitFor('the taints to go', async () => (await taintsOf(agentNode)) === '');
    const ends = 'jsonpath={range .items[*]}{.metadata.name}={.metadata.deletionTimestamp} {end}';
    const staying = await output('get', 'pods', '-o', ends);
    assert.match(staying, /\btolerant= /);
    assert.match(staying, /\belsewhere= /);
  });

  test('and deleted takes its lease with it, and its pods', async () => {
    await agent.interrupt();
    await output('delete', 'node', agentNode);
    const leases = () => output('get', 'leases', '-n', 'kube-node-lease', '-o', 'name');
    await waitFor('its lease to go', async () => !(await leases()).includes(agentNode));
    const pods = () => output('get', 'pods', '-o', 'name');
    await waitFor('its pods to go', async () => (await pods()) === 'pod/elsewhere\n', {
      timeoutMs: 90_000,
      intervalMs: 500,
    });
  });
});
