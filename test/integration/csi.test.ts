/** CSI drivers as processes of their own, a whole agent, and what its control plane tells of them. */
// lane: waiting (a CSINode that somebody deleted comes back after half a minute)
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CSINode } from '../../src/api/index.ts';
import { csiNodeKind, nodeKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import type { ExamplePlugin } from './example-plugins/start.ts';
import { startPlugin } from './example-plugins/start.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { controlPlaneOf, nodeward, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

const node = 'csi-node';
const patience = { timeoutMs: 60_000, intervalMs: 50 };

let home: TemporaryFolder;
let agent: RunningAgent;
let api: ApiClient;
let rootDir: string;
let folder: string;

async function start(...args: readonly string[]): Promise<void> {
  agent = await startAgent({ rootDir, args: ['--hostname-override', node, ...args] });
}

async function connect(): Promise<void> {
  api = createClient(clientOptionsOf(await readKubeconfig(agent.summary.kubeconfig ?? '')));
}

before(async () => {
  home = await temporaryFolder('csi-');
  rootDir = join(home.path, 'root');
  folder = join(rootDir, 'plugins_registry');
  await start();
  await connect();
});
after(async () => {
  await api?.close();
  await agent?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

function driver(name: string, ...args: readonly string[]): Promise<ExamplePlugin> {
  const socket = name.replace(/\..*$/, '');
  return startPlugin('csi', { folder, socket }, ['--name', name, '--node-id', `${socket}-id`, ...args]);
}

const csiNode = () => api.get(csiNodeKind, node);
const ids = async () =>
  (await api.get(nodeKind, node)).metadata?.annotations?.['csi.volume.kubernetes.io/nodeid'];

function untilDrivers(names: readonly string[], limits = patience): Promise<CSINode> {
  return waitFor(
    `the CSINode to have ${names.join(', ') || 'no driver'}`,
    async () => {
      const found = await csiNode();
      const present = found.spec.drivers.map(({ name }) => name).sort();
      return present.join() === names.toSorted().join() && found;
    },
    limits,
  );
}

const saysOf = (plugin: ExamplePlugin, event: string) =>
  waitFor(`the driver to be ${event}`, () => plugin.events().find((each) => each.event === event), patience);

/** What `nodeward plugins ls` tells of a driver. */
async function shown(name: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await nodeward(['plugins', 'ls', '--root-dir', rootDir, '-o', 'json']);
  assert.equal(code, 0, stderr);
  const { items } = JSON.parse(stdout);
  const found = items.find((item: Record<string, unknown>) => item['name'] === name);
  assert.ok(found, `${name} is listed`);
  return found;
}

describe('a CSI driver', () => {
  test('is in the CSINode and on the Node once it has registered, as kubectl shows, and goes with its socket', async () => {
    const topology = ['--topology', 'topology.one.example.com/zone=a'];
    await using one = await driver('one.example.com', '--max-volumes', '39', ...topology);
    await saysOf(one, 'registered');
    const { metadata } = await untilDrivers(['one.example.com']);
    const stored = await api.get(nodeKind, node);
    assert.equal(metadata?.ownerReferences?.[0]?.uid, stored.metadata?.uid);
    assert.equal(stored.metadata?.labels?.['topology.one.example.com/zone'], 'a');
    await waitFor('the annotation', async () => (await ids()) === '{"one.example.com":"one-id"}', patience);

    const kubectl = ['--kubeconfig', agent.summary.kubeconfig ?? '', 'get', 'csinode', node, '-o'];
    const jsonpath =
      'jsonpath={.spec.drivers[*].name} {.spec.drivers[*].nodeID} {.spec.drivers[*].allocatable.count}';
    assert.equal(await runSuccessfully('kubectl', [...kubectl, jsonpath]), 'one.example.com one-id 39');
    assert.deepEqual((await shown('one.example.com'))['details'], {
      version: '1.9.0',
      nodeID: 'one-id',
      maxVolumes: 39,
      topology: 'topology.one.example.com/zone=a',
      csiNode: 'published',
    });

    await one.stop();
    await untilDrivers([]);
    await waitFor('the annotation to go', async () => (await ids()) === undefined, patience);
  });

  test('that is killed and started again stays told, with what it says now', async () => {
    const first = await driver('one.example.com');
    await untilDrivers(['one.example.com']);
    await first.kill9();
    await using again = await driver('one.example.com', '--max-volumes', '7');
    await saysOf(again, 'registered');
    // it is told of its registration before the CSINode is
    const entry = async () => (await untilDrivers(['one.example.com'])).spec.drivers[0];
    await waitFor('what it says now', async () => (await entry())?.allocatable?.count === 7, patience);

    // and one that calls the node otherwise after an upgrade
    await again.kill9();
    await using upgraded = await startPlugin('csi', { folder, socket: 'one' }, [
      ...['--name', 'one.example.com', '--node-id', 'another-id'],
    ]);
    await saysOf(upgraded, 'registered');
    await waitFor('its other name', async () => (await entry())?.nodeID === 'another-id', patience);
    await waitFor(
      'the annotation',
      async () => (await ids()) === '{"one.example.com":"another-id"}',
      patience,
    );
    await upgraded.stop();
    await untilDrivers([]);
  });

  test('that hangs, fails or crashes when it is asked harms no other', async () => {
    await using _hanging = await driver('hanging.example.com', '--hang', '1000');
    await using crashing = await driver('crashing.example.com', '--crash');
    await using failing = await driver('failing.example.com', '--fail', '2');
    await using good = await driver('good.example.com');
    await saysOf(good, 'registered');
    await saysOf(failing, 'registered');
    await untilDrivers(['failing.example.com', 'good.example.com']);
    assert.equal((await crashing.exited).signal, 'SIGKILL');
    const hanging = await shown('hanging.example.com');
    assert.equal(hanging['state'], 'registering');
  });

  test('that speaks CSI 0.x, or says something impossible, is told why it is refused', async () => {
    await using old = await driver('old.example.com', '--version', '0.3.0');
    await using nameless = await startPlugin('csi', { folder, socket: 'nameless' }, [
      ...['--name', 'nameless.example.com', '--node-id', ''],
    ]);
    await using lying = await driver('lying.example.com', '--topology', 'kubernetes.io/hostname=elsewhere');
    assert.match(String((await saysOf(old, 'refused'))['error']), /CSI 0\.x is not supported any more/);
    assert.match(String((await saysOf(nameless, 'refused'))['error']), /node_id: it is empty/);
    const { error } = await saysOf(lying, 'refused');
    assert.match(
      String(error),
      /kubernetes\.io\/hostname is "elsewhere", and the label of the Node says "csi-node"/,
    );
    const { state, lastError } = await shown('lying.example.com');
    assert.ok(state !== 'registered' && typeof lastError === 'string');
  });

  test('is told again when somebody has deleted the CSINode', async () => {
    await using one = await driver('one.example.com');
    await saysOf(one, 'registered');
    const { metadata } = await untilDrivers(['one.example.com']);
    await api.delete(csiNodeKind, node);
    const again = await untilDrivers(['one.example.com'], { timeoutMs: 60_000, intervalMs: 200 });
    assert.notEqual(again.metadata?.uid, metadata?.uid);
  });

  test('that registers while the control plane is away is told when it is back', async () => {
    const pid = await controlPlaneOf(agent.pid);
    assert.ok(pid);
    sendSignal(pid, 'SIGKILL');
    await using one = await driver('late.example.com');
    await saysOf(one, 'registered');
    await waitFor(
      'a new control plane',
      async () => {
        const now = await controlPlaneOf(agent.pid);
        return now !== undefined && now !== pid;
      },
      patience,
    );
    await api.close();
    await waitFor('its connection', () => connect().then(() => csiNode()), patience);
    await waitFor(
      'the driver to be told',
      async () => (await csiNode()).spec.drivers.some(({ name }) => name === 'late.example.com'),
      { timeoutMs: 60_000, intervalMs: 200 },
    );
  });

  test('registers again with an agent that was started anew, and is told without interruption', async () => {
    await using one = await driver('one.example.com');
    await saysOf(one, 'registered');
    await untilDrivers(['one.example.com'], { timeoutMs: 60_000, intervalMs: 200 });
    const { uid } = (await csiNode()).metadata ?? {};
    assert.equal((await agent.interrupt()).code, 0);
    await api.close();
    await start();
    await connect();
    await waitFor(
      'a second registration',
      () => one.events().filter(({ event }) => event === 'registered').length >= 2,
      patience,
    );
    assert.equal((await untilDrivers(['one.example.com'])).metadata?.uid, uid);
  });
});

test('without a control plane a CSI driver is in use on the node alone', async () => {
  await using alone = await temporaryFolder('csi-alone-');
  const root = join(alone.path, 'root');
  await using _agent = await startAgent({ rootDir: root, args: ['--embedded-control-plane=false'] });
  const place = { folder: join(root, 'plugins_registry'), socket: 'one' };
  await using one = await startPlugin('csi', place, ['--name', 'one.example.com', '--node-id', 'one-id']);
  await saysOf(one, 'registered');
  const { stdout } = await nodeward(['plugins', 'ls', '--root-dir', root, '-o', 'json']);
  assert.deepEqual(JSON.parse(stdout).items[0].details, {
    version: '1.9.0',
    nodeID: 'one-id',
    csiNode: 'local',
  });
});
