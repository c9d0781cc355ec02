/** An agent at a remote control plane, and at its own, and the pods that are bound to its node, which it does not start. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readRuntimePods } from '../../src/agent/pods/unstarted/index.ts';
import { openConnection } from '../../src/agent/runtime/index.ts';
import type { Node, Pod } from '../../src/api/index.ts';
import { eventKind, nodeKind, podKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, ifFound, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { startContainerd } from './lab/index.ts';
import type { RunningAgent, RunningApiServer } from './nodeward/index.ts';
import { startAgent, startApiServer } from './nodeward/index.ts';

before(ensureBuilt);

const namespace = 'default';
const taint = [{ key: 'nodeward.io/runs-no-pods', effect: 'NoSchedule' }];
const runtime = ['--container-runtime-endpoint', 'unix:///nowhere/x.sock'];

describe('an agent in a real cluster says what it does not do', { timeout: 180_000 }, () => {
  let home: TemporaryFolder;
  let server: RunningApiServer;
  let agent: RunningAgent;
  let api: ApiClient;

  const start = (name: string, config = '', more: readonly string[] = []) => startWith(name, config, more);
  async function startWith(name: string, config: string, more: readonly string[]): Promise<RunningAgent> {
    const file = join(home.path, `${name}.yaml`);
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    await writeFile(file, `${head}staticPodPath: manifests\n${config}`);
    const args = ['--config', file, '--hostname-override', name, ...runtime, ...more];
    return startAgent({ rootDir: join(home.path, name), args });
  }
  const remote = () => ['--kubeconfig', server.kubeconfig];
  const pod = (name: string) => ifFound(api.get(podKind, name, { namespace }));
  const node = (name: string) => ifFound(api.get(nodeKind, name));
  const becomes = (name: string, is: (pod: Pod | undefined) => boolean) =>
    waitFor(`pod ${name}`, async () => is(await pod(name)), { timeoutMs: 30_000 });
  const isNotStarted = (found: Pod | undefined) => found?.status?.reason === 'NotStarted';
  const create = (name: string, nodeName: string) =>
    api.create(podKind, {
      metadata: { name, namespace },
      spec: { nodeName, containers: [{ name: 'main', image: 'app:1' }] },
    });
  const registered = (name: string): Promise<Node> =>
    waitFor(`Node ${name}`, async () => await node(name), { timeoutMs: 30_000 });

  before(async () => {
    home = await temporaryFolder('unstarted-');
    await mkdir(join(home.path, 'manifests'));
    server = await startApiServer(join(home.path, 'server'));
    api = createClient(clientOptionsOf(await readKubeconfig(server.kubeconfig)));
    agent = await start('n1', '', remote());
  });
  after(async () => {
    await api?.close();
    await agent?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('its Node has the taint nodeward.io/runs-no-pods, unless the configuration switches that off', async () => {
    assert.deepEqual((await registered('n1')).spec?.taints, taint);
    await using _other = await start('n2', 'runsNoPodsTaint: false\n', remote());
    assert.equal((await registered('n2')).spec?.taints, undefined);
  });

  test('a Node without it that exists is kept as it is, and the agent says how to taint it', async () => {
    await api.create(nodeKind, { metadata: { name: 'n3' } });
    await using other = await start('n3', '', remote());
    await waitFor('the warning', () =>
      /n3.*lacks the taint|lacks the taint nodeward\.io\/runs-no-pods:NoSchedule.*kubectl taint node n3/.test(
        other.process.stderr,
      ),
    );
  });

  test('a pod that is bound to the node all the same is NotStarted, with one Event', async () => {
    await create('web', 'n1');
    await becomes('web', isNotStarted);
    const { status } = (await pod('web')) ?? {};
    assert.equal(status?.phase, 'Pending');
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready?.status, 'False');
    assert.match(ready?.message ?? '', /the agent of node n1 does not start pods/);
    const events = async () => {
      const { items } = await api.list(eventKind, { namespace });
      return items.filter(
        ({ reason, involvedObject }) => reason === 'NotStarted' && involvedObject?.name === 'web',
      );
    };
    await waitFor('its Event', async () => (await events()).length > 0);
    assert.equal((await agent.interrupt()).code, 0);
    agent = await start('n1', '', remote());
    await create('next', 'n1');
    await becomes('next', isNotStarted);
    const [event, ...more] = await events();
    assert.deepEqual([more.length, event?.type, event?.count ?? 1], [0, 'Warning', 1]);
  });

  test('the deletion of a pod that was never started is confirmed', async () => {
    await api.delete(podKind, 'web', { namespace });
    await becomes('web', (found) => found === undefined);
  });

  test('the mirror of a static pod stays as long as its manifest does', async () => {
    const manifest =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: fixed}\nspec: {containers: [{name: a, image: a}]}\n';
    await writeFile(join(home.path, 'manifests/fixed.yaml'), manifest);
    await becomes('fixed-n1', isNotStarted);
    const before = await pod('fixed-n1');
    await api.delete(podKind, 'fixed-n1', { namespace });
    await becomes(
      'fixed-n1',
      (found) => found !== undefined && found.metadata?.uid !== before?.metadata?.uid,
    );
  });

  test('the same at a control plane of its own', async () => {
    await using own = await start('own');
    const kubeconfig = await readKubeconfig(own.summary.kubeconfig ?? '');
    await using client = createClient(clientOptionsOf(kubeconfig));
    const made = await waitFor('the Node', () => ifFound(client.get(nodeKind, 'own')));
    assert.deepEqual(made.spec?.taints, taint);
    const spec = { nodeName: 'own', containers: [{ name: 'main', image: 'app:1' }] };
    await client.create(podKind, { metadata: { name: 'web', namespace }, spec });
    const there = () => ifFound(client.get(podKind, 'web', { namespace }));
    await waitFor('NotStarted', async () => isNotStarted(await there()));
    await client.delete(podKind, 'web', { namespace });
    await waitFor('it to go', async () => (await there()) === undefined);
  });
});

test('the pods of a real container runtime are found, and a runtime that is absent or silent is told apart', async () => {
  const { signal } = new AbortController();
  await using runtime = await startContainerd();
  const { endpoint } = runtime;
  using connection = openConnection([endpoint]);
  assert.deepEqual(await readRuntimePods(connection, [endpoint], signal), new Set());
  const started = await runtime.startPod({ name: 'web', namespace: 'shop' });
  await started.startContainer();
  const found = await readRuntimePods(connection, [endpoint], signal);
  assert.ok(typeof found !== 'string' && [...found].some((uid) => uid !== ''), String(found));
  const nowhere = 'unix:///nowhere/x.sock';
  using none = openConnection([nowhere]);
  assert.equal(await readRuntimePods(none, [nowhere], signal), 'none');
  assert.equal(await readRuntimePods(connection, [endpoint], AbortSignal.abort()), 'unknown');
});
