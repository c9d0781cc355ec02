/** Manifests on the node become pods of the agent, and mirror pods on the API. */
import assert from 'node:assert/strict';
import { mkdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { podKind, StatusError } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { controlPlaneOf, curl, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: manifests
`;

const manifest = (name: string, image = 'app:1', more = '') => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
    - name: main
      image: ${image}
${more}`;

const mirrorMark = 'kubernetes.io/config.mirror';
const hashMark = 'kubernetes.io/config.hash';

describe('static pods', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let api: ApiClient;
  let node: string;
  const at = (name: string) => join(home.path, 'manifests', name);
  const rootDir = () => join(home.path, 'root');

  async function start(): Promise<void> {
    agent = await startAgent({
      rootDir: rootDir(),
      args: ['--config', join(home.path, 'config.yaml'), '--hostname-override', 'n1'],
    });
    node = agent.summary.node;
    await connect();
  }

  async function connect(): Promise<void> {
    const kubeconfig = await readKubeconfig(agent.summary.kubeconfig ?? '');
    await api?.close();
    api = new ApiClient(clientOptionsOf(kubeconfig));
  }

  async function stop(): Promise<void> {
    await api?.close();
    await agent?.[Symbol.asyncDispose]();
  }

  before(async () => {
    home = await temporaryFolder('static-pods-');
    await writeFile(join(home.path, 'config.yaml'), config);
    await mkdir(join(home.path, 'manifests'));
    await writeFile(at('web.yaml'), manifest('web'));
    await start();
  });
  after(async () => {
    await stop();
    await home?.[Symbol.asyncDispose]();
  });

  /** Replaced as a whole, as tools do. */
  async function put(name: string, text: string): Promise<void> {
    await writeFile(join(home.path, 'next'), text);
    await rename(join(home.path, 'next'), at(name));
  }

  async function mirror(name: string): Promise<Pod | undefined> {
    try {
      return await api.get(podKind, `${name}-${node}`, { namespace: 'default' });
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }

  const becomesMirror = (name: string, is: (pod: Pod) => boolean = () => true) =>
    waitFor(
      `the mirror of ${name}`,
      async () => {
        const pod = await mirror(name);
        return pod !== undefined && is(pod) ? pod : undefined;
      },
      { timeoutMs: 20_000 },
    );

  async function ask(path: string): Promise<{ code: number; body: string }> {
    return await curl(join(rootDir(), 'pki'), `${agent.summary.agent}${path}`, { method: 'GET' });
  }

  async function listed(): Promise<Pod[]> {
    const { code, body } = await ask('/pods');
    assert.equal(code, 200, body);
    const list: { kind: string; items: Pod[] } = JSON.parse(body);
    assert.equal(list.kind, 'PodList');
    return list.items;
  }

  async function verdictOf(
    file: string,
  ): Promise<{ state: string; faults: { field: string; message: string }[] }> {
    const { body } = await ask('/staticpods');
    const { manifests } = JSON.parse(body);
    return manifests.find((each: { file: string }) => each.file === file);
  }

  const becomes = (file: string, state: string) =>
    waitFor(`${file} to be ${state}`, async () => {
      const verdict = await verdictOf(file);
      return verdict?.state === state ? verdict : undefined;
    });

  test('are shown on the API as what they are: mirrors of the node, that wait for its container runtime', async () => {
    const pod = await becomesMirror('web', ({ status }) => status?.containerStatuses !== undefined);
    const { annotations = {}, ownerReferences = [] } = pod.metadata ?? {};
    assert.equal(annotations['kubernetes.io/config.source'], 'file');
    assert.match(annotations[hashMark] ?? '', /^[0-9a-f]{32}$/);
    assert.equal(annotations[mirrorMark], annotations[hashMark]);
    assert.deepEqual(
      ownerReferences.map(({ kind, name, controller }) => [kind, name, controller]),
      [['Node', node, true]],
    );
    assert.equal(pod.spec?.nodeName, node);
    assert.equal(pod.status?.phase, 'Pending');
    const [container] = pod.status?.containerStatuses ?? [];
    assert.match(container?.state?.waiting?.message ?? '', /no container runtime/);
  });

  test('are listed by the agent, each once, beside pods of the API for this node', async () => {
    const name = 'by-the-api';
    const containers = [{ name: 'main', image: 'app:1' }];
    await api.create(podKind, {
      metadata: { name, namespace: 'default' },
      spec: { nodeName: node, containers },
    });
    const pods = await waitFor('both', async () => {
      const now = await listed();
      return now.length === 2 ? now : undefined;
    });
    assert.deepEqual(
      pods.map(({ metadata }) => metadata?.name),
      ['web-n1', name],
    );
    assert.equal(pods[0]?.metadata?.annotations?.[mirrorMark], undefined);
    await api.delete(podKind, name, { namespace: 'default', gracePeriodSeconds: 0 });
    await waitFor('one', async () => (await listed()).length === 1);
  });

  test('a mirror that somebody deletes is made again', async () => {
    const before = await becomesMirror('web');
    await api.delete(podKind, `web-${node}`, { namespace: 'default' });
    const after = await becomesMirror('web', ({ metadata }) => metadata?.uid !== before.metadata?.uid);
    assert.equal(after.metadata?.annotations?.[mirrorMark], before.metadata?.annotations?.[mirrorMark]);
    assert.equal(after.metadata?.deletionTimestamp, undefined);
  });

  test('another manifest is another pod', async () => {
    const before = await becomesMirror('web');
    await put('web.yaml', manifest('web', 'app:2'));
    const after = await becomesMirror('web', ({ spec }) => spec?.containers?.[0]?.image === 'app:2');
    assert.notEqual(after.metadata?.uid, before.metadata?.uid);
    assert.notEqual(after.metadata?.annotations?.[hashMark], before.metadata?.annotations?.[hashMark]);
  });

  test('what is wrong is told with its field, and the last good pod stays', async () => {
    await put('web.yaml', manifest('web', 'app:3', '      imgePullPolicy: Always\n'));
    const { faults } = await becomes('web.yaml', 'invalid');
    assert.deepEqual(faults, [{ field: '', message: 'unknown field "spec.containers[0].imgePullPolicy"' }]);
    assert.equal((await becomesMirror('web')).spec?.containers?.[0]?.image, 'app:2');
    const { body } = await ask('/statusz');
    assert.match(body, /^Static pods: 1 of 1 manifests in .*manifests, not accepted: web\.yaml$/m);
    const metrics = (await ask('/metrics')).body;
    assert.match(metrics, /^nodeward_static_pod_manifests\{state="invalid"\} 1$/m);
    await put('web.yaml', manifest('web', 'app:2'));
    await becomes('web.yaml', 'accepted');
  });

  test('go with their manifests', async () => {
    await put('second.yaml', manifest('second'));
    await becomesMirror('second');
    await unlink(at('second.yaml'));
    await waitFor('the mirror to go', async () => (await mirror('second')) === undefined);
    assert.deepEqual(
      (await listed()).map(({ metadata }) => metadata?.name),
      ['web-n1'],
    );
  });

  test('survive a control plane that is killed', async () => {
    const killed = await controlPlaneOf(agent.pid);
    assert.ok(killed !== undefined);
    sendSignal(killed, 'SIGKILL');
    await put('web.yaml', manifest('web', 'app:4'));
    await waitFor(
      'the mirror of the new one',
      async () => {
        await connect(); // it comes back at another port
        return (await mirror('web'))?.spec?.containers?.[0]?.image === 'app:4';
      },
      { timeoutMs: 45_000, intervalMs: 200 },
    );
  });

  test('what went while the agent was away goes from the API when it comes back', async () => {
    await stop();
    await unlink(at('web.yaml'));
    await put(
      'third.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'third' },
        spec: { containers: [{ name: 'main', image: 'app:1' }] },
      }),
    );
    await start();
    await becomesMirror('third');
    await waitFor('the old one to go', async () => (await mirror('web')) === undefined);
    await rm(join(home.path, 'manifests'), { recursive: true });
    await waitFor('all to go', async () => (await mirror('third')) === undefined);
    const { body } = await ask('/staticpods');
    assert.match(JSON.parse(body).problem, /manifests is missing; it is looked at as soon as it is made/);
  });
});

describe('static pods without a control plane', () => {
  test('are listed and judged, and nothing is written anywhere', async () => {
    await using home = await temporaryFolder('static-pods-alone-');
    await writeFile(join(home.path, 'config.yaml'), config);
    await mkdir(join(home.path, 'manifests'));
    await writeFile(join(home.path, 'manifests/web.yaml'), manifest('web'));
    await using agent = await startAgent({
      rootDir: join(home.path, 'root'),
      args: [
        '--embedded-control-plane=false',
        '--config',
        join(home.path, 'config.yaml'),
        '--hostname-override',
        'n1',
      ],
    });
    const pki = join(home.path, 'root/pki');
    const options = { method: 'GET', as: 'standalone-admin', authority: 'standalone-ca' } as const;
    const pods = await waitFor('the pod', async () => {
      const { code, body } = await curl(pki, `${agent.summary.agent}/pods`, options);
      return code === 200 && JSON.parse(body).items.length === 1 ? JSON.parse(body).items : undefined;
    });
    assert.equal(pods[0].metadata.name, 'web-n1');
    assert.equal(pods[0].status.phase, 'Pending');
    const { body } = await curl(pki, `${agent.summary.agent}/metrics`, options);
    assert.doesNotMatch(body, /nodeward_mirror_pod_writes_total\{/);
  });
});
