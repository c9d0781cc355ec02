// lane: waiting (for a node that is given up, and for a rollout that hangs)
/**
 * A Deployment, a DaemonSet and a StatefulSet on two agents on hosts of their own: one of them dies, and later a rollout hangs. Then
 * Jobs.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SupervisedProcess } from '../support/index.ts';
import { cgroupName, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl } from './lab/index.ts';
import { image, kubectl, startContainerd } from './lab/index.ts';
import { launchAgent, nodeward, noPressure, startApiServer } from './nodeward/index.ts';
import { hostNetwork, whyNoNetwork } from './two-agents-network.ts';

const hosts = ['first', 'second'] as const;
const replicas = 6;
const graceSeconds = 4;
const skip = (await whyNoNetwork()) ?? false;
const patient = { timeoutMs: 60_000, intervalMs: 200 };

const agentConfig = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: ${graceSeconds}
nodeStatusUpdateFrequency: 1s
${noPressure}
`;

/** Its pods give up a node at once, and are spread over the nodes. */
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    progressDeadlineSeconds: 60,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        tolerations: ['not-ready', 'unreachable'].map((state) => ({
          key: `node.kubernetes.io/${state}`,
          ...{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
        })),
        topologySpreadConstraints: [
          {
            ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
        containers: [{ name: 'main', image, imagePullPolicy: 'Never', command: ['sleep', '100000'] }],
      },
    },
  },
};

const sets = { namespace: 'sets', name: 'web' };
const setLabels = { app: 'set' };

/** Its pods are spread over the nodes, and give one up at once. */
const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: sets,
  spec: {
    ...{ replicas: 2, serviceName: 'web', selector: { matchLabels: setLabels } },
    template: {
      metadata: { labels: setLabels },
      spec: {
        ...deployment.spec.template.spec,
        topologySpreadConstraints: [
          {
            ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
            labelSelector: { matchLabels: setLabels },
          },
        ],
      },
    },
  },
};

const { topologySpreadConstraints: _spread, ...daemonSpec } = deployment.spec.template.spec;
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: sets,
  spec: {
    selector: { matchLabels: { app: 'daemon' } },
    template: { metadata: { labels: { app: 'daemon' } }, spec: daemonSpec },
  },
};

before(ensureBuilt);

describe('workloads on two nodes', { skip }, () => {
  const stack = new AsyncDisposableStack();
  const agents = new Map<string, SupervisedProcess>();
  let tool: Kubectl;

  before(async () => {
    const home = stack.use(await temporaryFolder('workloads-'));
    const network = stack.use(await hostNetwork(hosts));
    const watch = [`--node-monitor-grace-period=${graceSeconds}s`, '--node-monitor-period=1s'];
    const args = ['--bind-address', network.hub, ...watch];
    const server = stack.use(await startApiServer(join(home.path, 'control-plane'), { args }));
    tool = kubectl(server.kubeconfig, home.path);
    const joining = join(home.path, 'join.kubeconfig');
    const token = ['token', 'create', '--kubeconfig', server.kubeconfig, '--kubeconfig-out', joining];
    const made = await nodeward(token);
    assert.equal(made.code, 0, made.stderr);
    const startHost = async (host: string) => {
      const runtime = stack.use(await startContainerd({ cni: true }));
      const cgroupRoot = `/${cgroupName(runtime.folder)}`; // removed with containerd
      const logs = join(home.path, 'logs'); // of both, as /var/log/pods is on one machine
      const config = join(home.path, `${host}.yaml`);
      await writeFile(config, `${agentConfig}cgroupRoot: ${cgroupRoot}\npodLogsDir: ${logs}\n`);
      const agent = await launchAgent({
        rootDir: join(home.path, host),
        network: network.namespaceOf(host),
        args: [
          ...['--bootstrap-kubeconfig', joining, '--config', config, '--hostname-override', host],
          ...['--lock-file', join(home.path, `${host}.lock`)],
          ...['--container-runtime-endpoint', runtime.endpoint],
        ],
      });
      agents.set(host, stack.use(agent));
      await agent.waitForOutput(/^nodeward is ready\n/m, { timeoutMs: 90_000 });
    };
    for (const host of hosts) await startHost(host);
  });
  after(async () => await stack.disposeAsync());

  async function output(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await tool.run(argv);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Of each pod that stays and is ready the node. */
  async function readyPods(): Promise<string[]> {
    const fields =
      '{.metadata.deletionTimestamp}/{.status.conditions[?(@.type=="Ready")].status}/{.spec.nodeName}';
    const pods = await output('get', 'pods', '-o', `jsonpath={range .items[*]}${fields} {end}`);
    return pods.split(' ').flatMap((pod) => /^\/True\/(.+)$/.exec(pod)?.[1] ?? []);
  }

  /** The pods of sets that have a label; `going`: since when they are being deleted. */
  async function setPods(label: string) {
    const ready = '{.status.conditions[?(@.status=="True")].type}';
    const fields = `{.metadata.name}|{.spec.nodeName}|{.metadata.deletionTimestamp}|${ready}`;
    const template = `jsonpath={range .items[*]}${fields};{end}`;
    const text = await output('-n', 'sets', 'get', 'pods', '-l', label, '-o', template);
    return text.split(';').flatMap((line) => {
      const [name = '', node = '', going = '', conditions = ''] = line.split('|');
      return name === '' ? [] : [{ name, node, going, isReady: conditions.split(' ').includes('Ready') }];
    });
  }

  test('a Deployment runs its pods on both', async () => {
    const { code, stderr } = await tool.run(['create', '-f', '-'], { input: JSON.stringify(deployment) });
    assert.equal(code, 0, stderr);
    assert.match(
      await output('rollout', 'status', 'deployment/web', '--timeout=60s'),
      /successfully rolled out/,
    );
    const nodes = await readyPods();
    assert.equal(nodes.length, replicas);
    assert.deepEqual([...new Set(nodes)].sort(), [...hosts]);
  });

  test('a DaemonSet has a pod on each, a StatefulSet its pods in order', async () => {
    await output('create', 'namespace', 'sets');
    const items = [statefulSet, daemonSet];
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await tool.run(['create', '-f', '-'], { input: list });
    assert.equal(code, 0, stderr);
    for (const what of ['daemonset/web', 'statefulset/web'])
      await output('-n', 'sets', 'rollout', 'status', what, '--timeout=60s');
    const daemons = await setPods('app=daemon');
    assert.deepEqual(daemons.map(({ node }) => node).sort(), [...hosts]);
    const [first, second] = await setPods('app=set');
    assert.deepEqual([first?.name, second?.name], ['web-0', 'web-1']);
    assert.deepEqual([first?.node, second?.node].sort(), [...hosts]);
  });

  test('a Deployment has all its pods on the other node when one has died', async (t) => {
    await agents.get('first')?.kill9();
    const killedMs = performance.now();
    const areBack = async () => (await readyPods()).filter((node) => node === 'second').length === replicas;
    await waitFor('its pods on the other node', areBack, patient);
    t.diagnostic(`back ${((performance.now() - killedMs) / 1000).toFixed(1)} s after the agent was killed`);
    assert.match(
      await output('rollout', 'status', 'deployment/web', '--timeout=30s'),
      /successfully rolled out/,
    );
  });

  test('a StatefulSet has no second pod beside the one on the dead node, until that is forced away', async () => {
    const lost = async () => (await setPods('app=set')).find(({ node }) => node === 'first');
    const isGoing = async () => {
      const pod = await lost();
      return pod !== undefined && pod.going !== '' && pod;
    };
    const { name = '' } = await waitFor('the deletion of the pod on the dead node', isGoing, patient);
    assert.equal((await setPods('app=set')).length, 2);
    await output('-n', 'sets', 'delete', 'pod', name, '--force', '--grace-period=0');
    const isBack = async () => {
      const pods = await setPods('app=set');
      return pods.length === 2 && pods.every(({ node, isReady }) => node === 'second' && isReady);
    };
    await waitFor('it on the other node', isBack, patient);
    const daemon = (await setPods('app=daemon')).find(({ node }) => node === 'first');
    assert.equal(daemon?.going, '', 'daemons stay on a node that is lost');
    await output('delete', 'namespace', 'sets', '--wait=false');
  });

  test('a rollout that hangs says why, keeps its old pods, and goes back', async () => {
    await output('patch', 'deployment', 'web', '-p', '{"spec":{"progressDeadlineSeconds":4}}');
    await output('set', 'image', 'deployment/web', 'main=registry.invalid/missing:1');
    const hung = await tool.run(['rollout', 'status', 'deployment/web', '--timeout=60s']);
    assert.notEqual(hung.code, 0);
    assert.match(hung.stderr, /exceeded its progress deadline/);
    const condition = 'jsonpath={.status.conditions[?(@.type=="Progressing")].message}';
    assert.match(
      await output('get', 'deployment', 'web', '-o', condition),
      /^ReplicaSet "web-\w+" has timed out progressing\. Pod "web-\w+-\w+": container "main" waits: ErrImageNeverPull/,
    );
    assert.ok((await readyPods()).length >= replicas - 1, 'a quarter may be missing');
    await output('rollout', 'undo', 'deployment/web');
    assert.match(
      await output('rollout', 'status', 'deployment/web', '--timeout=60s'),
      /successfully rolled out/,
    );
    await output('delete', 'deployment', 'web');
    await waitFor('its pods to go', async () => (await readyPods()).length === 0, patient);
  });

  test('runs a Job whose pods know their indexes, and one that fails thrice', async () => {
    const check = `[ "$JOB_COMPLETION_INDEX" = "$(hostname | sed s/^indexed-//)" ]`;
    for (const each of [
      job('indexed', check, { completionMode: 'Indexed', completions: 3, parallelism: 3 }),
      job('failing', 'exit 3', { completions: 3, parallelism: 3, backoffLimit: 2 }),
    ]) {
      const { code, stderr } = await tool.run(['create', '-f', '-'], { input: JSON.stringify(each) });
      assert.equal(code, 0, stderr);
    }
    await output('wait', '--for=condition=complete', 'job/indexed', '--timeout=60s');
    await output('wait', '--for=condition=failed', 'job/failing', '--timeout=60s');
    const status = (name: string, path: string) =>
      output('get', 'job', name, '-o', `jsonpath={.status.${path}}`);
    assert.equal(await status('indexed', 'completedIndexes'), '0-2');
    assert.equal(await status('failing', 'failed'), '3');
    assert.equal(await status('failing', 'conditions[?(@.type=="Failed")].reason'), 'BackoffLimitExceeded');
    await output('delete', 'job', 'indexed', 'failing', '--timeout=30s');
    const isEmpty = async () =>
      (await output('get', 'pods', '-l', 'batch.kubernetes.io/job-name', '-o', 'name')) === '';
    await waitFor('their pods to go', isEmpty, patient);
  });
});

/** Of pods that run a script. */
function job(name: string, script: string, spec: object) {
  const container = { name: 'main', image, imagePullPolicy: 'Never', command: ['sh', '-c', script] };
  const pod = { restartPolicy: 'Never', automountServiceAccountToken: false, containers: [container] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { spec: pod }, ...spec },
  };
}
