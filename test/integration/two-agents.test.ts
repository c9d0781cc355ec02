// lane: waiting (the link is cut for a while, and its node is watched for a while when it is healed)
/**
 * Two agents on hosts of their own, one control plane: the link of one is cut and healed. With NODEWARD_REAL_TIMES=1
 * in the real times (a grace period of 40 s, cut for 60 s), else in shorter ones.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../src/api/index.ts';
import type { SupervisedProcess } from '../support/index.ts';
import { cgroupName, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl } from './lab/index.ts';
import { image, kubectl, startContainerd } from './lab/index.ts';
import { launchAgent, nodeward, noPressure, startApiServer } from './nodeward/index.ts';
import type { HostNetwork } from './two-agents-network.ts';
import { hostNetwork, whyNoNetwork } from './two-agents-network.ts';

/** Seconds. An agent renews its lease every quarter of `lease`, and looks at its node as often. */
const times =
  process.env['NODEWARD_REAL_TIMES'] === undefined
    ? { grace: 8, cut: 16, lease: 8, watched: 20 }
    : { grace: 40, cut: 60, lease: 40, watched: 60 };
const interval = times.lease / 4;
const hosts = ['away', 'near'] as const;
const taints = 'node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute ';
const skip = (await whyNoNetwork()) ?? false;

/** Everything that nodes ask is written down. */
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{ level: Metadata, userGroups: [system:nodes] }, { level: None }]
`;

const agentConfig = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: ${times.lease}
nodeStatusUpdateFrequency: ${interval}s
nodeStatusReportFrequency: 5m
${noPressure}
`;

/** Longer than all of this: a pod that is to go is still there to be looked at after the link was healed. */
const terminationGracePeriodSeconds = 600;

const container = {
  name: 'main',
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['sleep', '100000'],
};

before(ensureBuilt);

describe('the link of a node is cut and healed', { skip }, () => {
  const stack = new AsyncDisposableStack();
  let network: HostNetwork;
  let tool: Kubectl;
  let auditLog: string;
  const agents = new Map<string, SupervisedProcess>();
  const story = { cutMs: 0, healedMs: 0, healedAt: 0 };

  before(async () => {
    const home = stack.use(await temporaryFolder('two-agents-'));
    const file = async (name: string, text: string) => {
      await writeFile(join(home.path, name), text);
      return join(home.path, name);
    };
    network = stack.use(await hostNetwork(hosts));
    auditLog = join(home.path, 'audit.log');
    const audit = [
      '--audit-policy-file',
      await file('policy.yaml', auditPolicy),
      '--audit-log-path',
      auditLog,
    ];
    const evictAtOnce = ['--default-unreachable-toleration-seconds=0']; // what says nothing does not wait for 5 min
    const watch = [`--node-monitor-grace-period=${times.grace}s`, '--node-monitor-period=1s', ...evictAtOnce];
    const server = stack.use(
      await startApiServer(join(home.path, 'control-plane'), {
        args: ['--bind-address', network.hub, ...watch, ...audit],
      }),
    );
    tool = kubectl(server.kubeconfig, home.path);
    const joining = join(home.path, 'join.kubeconfig');
    const made = await nodeward([
      'token',
      'create',
      '--kubeconfig',
      server.kubeconfig,
      '--kubeconfig-out',
      joining,
    ]);
    assert.equal(made.code, 0, made.stderr);
    for (const host of hosts) {
      const runtime = stack.use(await startContainerd({ cni: true }));
      const cgroupRoot = `/${cgroupName(runtime.folder)}`; // removed with containerd
      const logs = join(home.path, 'logs'); // of both, as /var/log/pods is on one machine
      const config = await file(
        `${host}.yaml`,
        `${agentConfig}cgroupRoot: ${cgroupRoot}\npodLogsDir: ${logs}\n`,
      );
      const common = ['--bootstrap-kubeconfig', joining, '--config', config];
      const own = ['--hostname-override', host, '--lock-file', join(home.path, `${host}.lock`)];
      const agent = await launchAgent({
        rootDir: join(home.path, host),
        network: network.namespaceOf(host),
        args: [...common, ...own, '--container-runtime-endpoint', runtime.endpoint],
      });
      agents.set(host, stack.use(agent));
      await agent.waitForOutput(/^nodeward is ready\n/m, { timeoutMs: 90_000 });
    }
  });
  after(async () => await stack.disposeAsync());

  async function output(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await tool.run(argv);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  async function shows(node: string, state: 'Ready' | 'NotReady', timeoutMs: number): Promise<void> {
    const line = new RegExp(`^${node} +${state} `, 'm');
    const isShown = async () => line.test(await output('get', 'nodes'));
    await waitFor(`${node} to be ${state}`, isShown, { timeoutMs, intervalMs: 200 });
  }

  const taintsOf = async (node: string) =>
    await output('get', 'node', node, '-o', 'jsonpath={range .spec.taints[*]}{.key}:{.effect} {end}');
  const statesOf = (node: string) =>
    output('get', 'node', node, '-o', 'jsonpath={range .status.conditions[*]}{.type}={.status} {end}');
  const going = () =>
    output('get', 'pods', '-o', 'jsonpath={.items[?(@.metadata.deletionTimestamp)].metadata.name}');
  const readinessOf = (pod: string) =>
    output('get', 'pod', pod, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
  const eventsOf = async (name: string) =>
    await output('get', 'events', '-A', '--field-selector', `involvedObject.name=${name}`, '-o', 'wide');

  /** A pod that is ready, as the agent of its node would tell. */
  async function createPod(name: string, nodeName: string, tolerations: object[] = []): Promise<void> {
    const spec = { nodeName, tolerations, terminationGracePeriodSeconds, containers: [container] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec };
    const { code, stderr } = await tool.run(['create', '-f', '-'], { input: JSON.stringify(pod) });
    assert.equal(code, 0, stderr);
    await waitFor(`pod ${name}`, async () => (await readinessOf(name)) === 'True', { timeoutMs: 60_000 });
  }

  /** What each agent has asked in so many seconds, by verb and kind. */
  async function askedSince(fromMs: number, seconds: number): Promise<Map<string, string[]>> {
    const asked = new Map<string, string[]>(hosts.map((host) => [host, []]));
    for (const line of (await readFile(auditLog, 'utf8')).split('\n')) {
      const entry: unknown = line === '' ? undefined : JSON.parse(line);
      if (!isRecord(entry) || !isRecord(entry['user'])) continue;
      const atMs = Date.parse(String(entry['requestReceivedTimestamp'])) - fromMs;
      if (atMs < 0 || atMs > seconds * 1000) continue;
      const host = String(entry['user']['username']).replace('system:node:', '');
      const what = isRecord(entry['objectRef']) ? entry['objectRef']['resource'] : entry['requestURI'];
      asked.get(host)?.push(`${entry['verb']} ${what}`);
    }
    return asked;
  }

  test('both nodes are ready and have pods', async () => {
    for (const host of hosts) await shows(host, 'Ready', 60_000);
    for (const host of hosts) await waitFor('no taints', async () => (await taintsOf(host)) === '');
    const forSeconds = (tolerationSeconds: number) => [
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
    ];
    await createPod('plain', 'away');
    await createPod('patient', 'away', forSeconds(300));
    await createPod('elsewhere', 'near');
  });

  test('cut off, one is Unknown after its time, tainted, and loses the pods that do not tolerate that', async (t) => {
    await network.cut('away');
    story.cutMs = performance.now();
    await shows('away', 'NotReady', (times.grace + 15) * 1000);
    const took = (performance.now() - story.cutMs) / 1000;
    t.diagnostic(`Unknown after ${took.toFixed(1)} s`);
    assert.ok(took > times.grace - 1.1 * interval - 1, `${took} s`); // its last heartbeat may be as old
    assert.match(await statesOf('away'), /MemoryPressure=Unknown .*Ready=Unknown /);
    await waitFor('both taints', async () => (await taintsOf('away')) === taints);
    assert.equal(await waitFor('an eviction', going), 'plain');
    t.diagnostic(`evicted after ${((performance.now() - story.cutMs) / 1000).toFixed(1)} s`);
    await waitFor('the pods not to be ready', async () => (await readinessOf('patient')) === 'False');
    const told = {
      away: /NodeNotReady/,
      plain: /TaintManagerEviction .*Marking for deletion Pod default\/plain/,
    };
    for (const [name, words] of Object.entries(told))
      await waitFor(`${words}`, async () => words.test(await eventsOf(name)));
  });

  test('the other one is not touched', async () => {
    await sleep(Math.max(0, story.cutMs + times.cut * 1000 - performance.now())); // the outage is as long as that
    assert.equal(await taintsOf('near'), '');
    assert.match(await statesOf('near'), / Ready=True /);
    assert.equal(await readinessOf('elsewhere'), 'True');
    assert.equal(await going(), 'plain');
  });

  test('healed, all is undone, and who was to stay stays', async (t) => {
    await network.heal('away');
    [story.healedMs, story.healedAt] = [performance.now(), Date.now()];
    await shows('away', 'Ready', 40_000);
    t.diagnostic(`Ready after ${((performance.now() - story.healedMs) / 1000).toFixed(1)} s`);
    await waitFor('the taints to go', async () => (await taintsOf('away')) === '');
    assert.match(await statesOf('away'), /MemoryPressure=False .*Ready=True /);
    assert.equal(await going(), 'plain');
    await waitFor('the end of the other to be called off', async () =>
      (await eventsOf('patient')).includes('Cancelling deletion of Pod default/patient'),
    );
  });

  test('there is no storm of heartbeats afterwards', async (t) => {
    await sleep(Math.max(0, story.healedMs + (times.watched + 1) * 1000 - performance.now()));
    const asked = await askedSince(story.healedAt, times.watched);
    // In each interval a lease is renewed and the node read. Fifteen more for what an outage leaves: lease and node that were
    // being written or have changed are read and written again, and what came of it is told. As much for the two pods: their
    // status is written again, one of them ends, and each has events. To try again every 200 ms would be hundreds.
    const intervals = Math.floor(times.watched / (interval * 0.96)) + 1;
    const limit = { heartbeats: 2 * intervals + 15, others: 15 };
    for (const [host, requests] of asked) {
      const heartbeats = requests.filter((what) => / (?:leases|nodes)$/.test(what));
      t.diagnostic(`${host}: ${requests.length} requests in ${times.watched} s: ${tally(requests)}`);
      assert.ok(heartbeats.length <= limit.heartbeats, `${host}: ${tally(requests)}`);
      assert.ok(requests.length - heartbeats.length <= limit.others, `${host}: ${tally(requests)}`);
      assert.ok(requests.filter((what) => what.endsWith(' leases')).length >= intervals - 3, tally(requests));
    }
    const told = [...(agents.get('away')?.stderr ?? '').matchAll(/heartbeat late by ([\d.]+) s because/g)];
    const ofOutage = told.filter(([, seconds]) => Number(seconds) > times.cut * 0.75); // a busy machine has others
    assert.equal(ofOutage.length, 1, 'the agent tells once why it was late');
  });
});

function tally(requests: readonly string[]): string {
  const counts = Object.entries(Object.groupBy(requests, (what) => what));
  return counts.map(([what, all]) => `${all?.length} × ${what}`).join(', ');
}
