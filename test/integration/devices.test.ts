/** Device plugins as processes of their own against a real agent with its control plane. */
import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../src/api/index.ts';
import { nodeKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, temporaryFolder, unmountBelow, waitFor } from '../support/index.ts';
import type { DevicePluginOptions } from './example-plugins/device-plugin.ts';
import { runDevicePlugin } from './example-plugins/run-device-plugin.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { nodeward, startAgent } from './nodeward/index.ts';

const name = 'device-node';
const resource = 'vendor.example/gpu';
const four = [0, 1, 2, 3].map((index) => ({ id: `d${index}`, numaNodes: [index % 2] }));

before(ensureBuilt);

interface Lab extends AsyncDisposable {
  readonly home: TemporaryFolder;
  readonly rootDir: string;
  readonly folder: string;
  readonly api: ApiClient;
  readonly agent: RunningAgent;
  /** `capacity/allocatable` of a resource on the Node. */
  amounts(wanted?: string): Promise<string>;
  /** Waits until the Node says so, and tells how long that took. */
  says(expected: string, wanted?: string): Promise<number>;
  plugin(change?: Partial<DevicePluginOptions>): ReturnType<typeof runDevicePlugin>;
  restart(how: 'orderly' | 'killed'): Promise<void>;
}

/** An agent with its control plane; `section` is what the configuration says of the device manager. */
async function startLab(
  section: Readonly<Record<string, unknown>> = {},
  prepare?: (rootDir: string) => Promise<void>,
): Promise<Lab> {
  const home = await temporaryFolder('devices-');
  const rootDir = join(home.path, 'root');
  const config = join(home.path, 'config.yaml');
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  await writeFile(config, `${head}deviceManager: ${JSON.stringify(section)}\n`);
  await mkdir(rootDir, { mode: 0o700 });
  await prepare?.(rootDir);
  const args = ['--hostname-override', name, '--config', config, '--lock-file', join(home.path, 'lock')];
  const start = () => startAgent({ rootDir, args });
  let agent = await start();
  const connect = async () =>
    createClient(clientOptionsOf(await readKubeconfig(agent.summary.kubeconfig ?? '')));
  let api = await connect();
  const node = (): Promise<Node> => api.get(nodeKind, name);
  const amounts = async (wanted = resource) => {
    const { capacity = {}, allocatable = {} } = (await node()).status ?? {};
    return `${capacity[wanted] ?? '-'}/${allocatable[wanted] ?? '-'}`;
  };
  // the agent is ready before it has reached anybody
  await waitFor('the Node', async () => (await node()).metadata?.uid !== undefined);
  return {
    home,
    rootDir,
    folder: join(rootDir, 'device-plugins'),
    amounts,
    get api() {
      return api;
    },
    get agent() {
      return agent;
    },
    async says(expected, wanted = resource) {
      const startedMs = performance.now();
      let last = '';
      const look = async () => {
        last = await amounts(wanted);
        return last === expected;
      };
      await waitFor(`${expected} of ${wanted}`, look, { timeoutMs: 60_000, intervalMs: 50 }).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}; it is ${last}\n${agent.process.stderr.slice(-3000)}`);
        },
      );
      return performance.now() - startedMs;
    },
    plugin: (change = {}) =>
      runDevicePlugin({ folder: join(rootDir, 'device-plugins'), resource, devices: four, ...change }),
    async restart(how) {
      await api.close();
      if (how === 'killed') await agent.process.kill9();
      await agent[Symbol.asyncDispose]();
      agent = await start();
      api = await connect();
    },
    async [Symbol.asyncDispose]() {
      await api.close();
      await agent[Symbol.asyncDispose]();
      await unmountBelow(home.path);
      await home[Symbol.asyncDispose]();
    },
  };
}

describe('a device plugin and the node', { timeout: 240_000 }, () => {
  let lab: Lab;
  before(async () => {
    lab = await startLab({ gracePeriod: '4s' });
  });
  after(() => lab?.[Symbol.asyncDispose]());

  test('the capacity follows: devices, their health, the end of the plugin, its return; what others have put there stays', async (t) => {
    await lab.api.patch(
      nodeKind,
      name,
      { status: { capacity: { 'other.example/x': '7' } } },
      { as: 'merge', subresource: 'status' },
    );
    await using plugin = await lab.plugin();
    await plugin.saw('registered');
    const took: Record<string, number> = { registered: await lab.says('4/4') };
    plugin.command({ do: 'health', id: 'd1', health: 'Unhealthy' });
    took['unhealthy'] = await lab.says('4/3');
    plugin.command({ do: 'list', devices: four.slice(0, 2) });
    took['fewer'] = await lab.says('2/2');
    plugin.kill('SIGKILL');
    took['killed'] = await lab.says('2/0');
    await using again = await lab.plugin();
    await again.saw('registered');
    took['back'] = await lab.says('4/4');
    again.kill('SIGKILL');
    took['gone'] = await lab.says('0/0');
    t.diagnostic(
      Object.entries(took)
        .map(([what, ms]) => `${what} ${Math.round(ms)} ms`)
        .join(', '),
    );
    assert.equal(await lab.amounts('other.example/x'), '7/7');
  });

  test('a plugin of the registry has the same; the other way is refused to it while it lives', async () => {
    await using plugin = await lab.plugin();
    await plugin.saw('registered');
    await lab.says('4/4');
    const registry = join(lab.rootDir, 'plugins_registry/gpu-reg.sock');
    await using second = await lab.plugin({ registry, endpoint: 'second.sock' });
    const { message } = await second.saw('refused');
    assert.match(message ?? '', /registered already, by a call .* registers in one way only/);
    const own = 'vendor.example/nic';
    await using nic = await lab.plugin({
      resource: own,
      registry: join(lab.rootDir, 'plugins_registry/nic-reg.sock'),
      endpoint: 'nic.sock',
      devices: [{ id: 'n0' }],
    });
    await nic.saw('registered');
    await lab.says('1/1', own);
    await using wrong = await lab.plugin({ resource: own, endpoint: 'wrong.sock' });
    assert.match((await wrong.saw('refused')).message ?? '', /registered already, by the plugin registry/);
    nic.kill('SIGKILL');
    await lab.says('1/0', own);
  });

  test('versions that are not spoken are refused, and the plugin is told', async () => {
    await using plugin = await lab.plugin({ version: 'v1alpha1', resource: 'vendor.example/old' });
    assert.match(
      (await plugin.saw('refused')).message ?? '',
      /"v1alpha1" of the device plugin interface, this agent v1beta1 only/,
    );
    assert.equal(await lab.amounts('vendor.example/old'), '-/-');
  });

  for (const how of ['orderly', 'killed'] as const) {
    test(`an agent that starts again (${how}) has its plugins register again`, async (t) => {
      await using plugin = await lab.plugin();
      await plugin.saw('registered');
      await lab.says('4/4');
      await lab.restart(how);
      await plugin.saw('registered', 2);
      const ms = await lab.says('4/4');
      t.diagnostic(`4/4 ${Math.round(ms)} ms after the agent was ready and the plugin had registered`);
    });
  }

  test('a plugin that did not outlive the agent is not on the node for ever', async () => {
    {
      await using plugin = await lab.plugin();
      await plugin.saw('registered');
      await lab.says('4/4');
      const kept = async () =>
        (await readFile(join(lab.rootDir, 'device-plugins/nodeward_internal_checkpoint'), 'utf8')).includes(
          'd3',
        );
      await waitFor('the devices to be kept', kept);
    }
    await lab.restart('killed');
    await lab.says('0/0');
    assert.equal(await lab.amounts('other.example/x'), '7/7');
  });

  test('nodeward devices ls shows them', async () => {
    await using plugin = await lab.plugin();
    await plugin.saw('registered');
    await lab.says('4/4');
    const shown = await nodeward(['devices', 'ls', '--root-dir', lab.rootDir]);
    assert.match(
      shown.stdout,
      /^vendor\.example\/gpu +4 +4 +serving +registration .*plugin\.sock/m,
      shown.stderr,
    );
    const each = await nodeward(['devices', 'ls', '--each', '--root-dir', lab.rootDir]);
    assert.match(each.stdout, /^vendor\.example\/gpu +d1 +yes +1 +-$/m);
    assert.match(
      await nodeMetrics(lab),
      /^nodeward_devices\{resource="vendor\.example\/gpu",health="healthy"\} 4$/m,
    );
  });

  test('plugins that flood, hang and crash harm no other, nor the node', async () => {
    await using good = await lab.plugin();
    await good.saw('registered');
    await using flood = await lab.plugin({ resource: 'bad.example/flood', endpoint: 'flood.sock' });
    await flood.saw('registered');
    flood.command({ do: 'flood', count: 20_000 });
    await using hang = await lab.plugin({ resource: 'bad.example/hang', endpoint: 'hang.sock' });
    await hang.saw('registered');
    hang.kill('SIGSTOP');
    await using crash = await lab.plugin({ resource: 'bad.example/crash', endpoint: 'crash.sock' });
    await crash.saw('registered');
    crash.command({ do: 'crash' });
    good.command({ do: 'health', id: 'd0', health: 'Unhealthy' });
    await lab.says('4/3');
    await lab.says('4/0', 'bad.example/crash');
    const ready = (await lab.api.get(nodeKind, name)).status?.conditions?.some(
      ({ type }) => type === 'Ready',
    );
    assert.ok(ready);
    hang.kill('SIGCONT');
  });
});

async function nodeMetrics(lab: Lab): Promise<string> {
  const answer = await lab.api.request({ method: 'GET', path: `/api/v1/nodes/${name}/proxy/metrics` });
  return answer.body;
}

test('20 plugins that race the start of the agent are all registered', { timeout: 120_000 }, async () => {
  const plugins = new AsyncDisposableStack();
  await using _plugins = plugins;
  const names = Array.from({ length: 20 }, (_, index) => `race.example/r${index}`);
  await using lab = await startLab({}, async (rootDir) => {
    const folder = join(rootDir, 'device-plugins');
    await mkdir(folder, { mode: 0o700 });
    const starts = names.map(async (each, index) => {
      const plugin = await runDevicePlugin({
        folder,
        resource: each,
        devices: four,
        endpoint: `p${index}.sock`,
      });
      plugins.use(plugin);
    });
    await Promise.all(starts);
  });
  for (const each of names) await lab.says('4/4', each);
});

describe('the paths of the reference', { timeout: 120_000 }, () => {
  test('are served when asked for, and plugins that know no others register there', async () => {
    await using kubelet = await temporaryFolder('kubelet-');
    await using lab = await startLab({ kubeletPaths: true, kubeletDir: kubelet.path });
    const folder = join(kubelet.path, 'device-plugins');
    await using plugin = await lab.plugin({ folder, agentSocket: 'kubelet.sock' });
    await plugin.saw('registered');
    await lab.says('4/4');
    await using own = await lab.plugin({ resource: 'vendor.example/own' });
    await own.saw('registered');
    await lab.says('4/4', 'vendor.example/own');
    const registry = join(kubelet.path, 'plugins_registry/nic-reg.sock');
    await using nic = await lab.plugin({
      resource: 'vendor.example/nic',
      folder,
      endpoint: 'nic.sock',
      registry,
    });
    await nic.saw('registered');
    await lab.says('4/4', 'vendor.example/nic');
    const shown = await nodeward(['plugins', 'ls', '--root-dir', lab.rootDir]);
    assert.match(
      shown.stdout,
      /plugins_registry\/nic-reg\.sock +DevicePlugin +vendor\.example\/nic/,
      shown.stderr,
    );
    assert.ok((await stat(join(kubelet.path, 'pod-resources/kubelet.sock'))).isSocket());
  });

  test('are left to a kubelet that lives', async () => {
    await using kubelet = await temporaryFolder('kubelet-');
    const socket = join(kubelet.path, 'device-plugins/kubelet.sock');
    await mkdir(join(kubelet.path, 'device-plugins'));
    const other = createServer((peer) => peer.on('error', () => undefined));
    await new Promise<void>((resolve) => other.listen(socket, resolve));
    try {
      const { ino } = await stat(socket);
      await using lab = await startLab({ kubeletPaths: true, kubeletDir: kubelet.path });
      await lab.agent.process.waitForOutput(/kubelet\.sock is served by another process, a kubelet it seems/);
      assert.equal((await stat(socket)).ino, ino);
      await using plugin = await lab.plugin();
      await plugin.saw('registered');
      await lab.says('4/4');
    } finally {
      other.close();
    }
  });
});

describe('a disk for the sockets', { timeout: 120_000 }, () => {
  for (const [what, options, mend] of [
    ['is read-only', 'ro', 'remount,rw'],
    ['is full', 'nr_inodes=1', 'remount,nr_inodes=1000'],
  ] as const) {
    test(`that ${what} keeps nothing else from its work, and plugins register when it is well again`, async () => {
      let folder = '';
      await using lab = await startLab({}, async (rootDir) => {
        await mkdir(join(rootDir, 'device-plugins'), { mode: 0o700 });
        folder = join(rootDir, 'device-plugins');
        await runSuccessfully('mount', ['-t', 'tmpfs', '-o', `${options},mode=0700`, 'tmpfs', folder]);
      });
      await lab.agent.process.waitForOutput(
        /device plugins cannot register: .*nodeward\.sock cannot be served/,
      );
      await lab.says('-/-');
      const shown = await nodeward(['devices', 'ls', '--root-dir', lab.rootDir]);
      assert.match(shown.stderr, /^warning: device plugins cannot register: /m);
      await runSuccessfully('mount', ['-o', mend, folder]);
      await using plugin = await lab.plugin();
      await plugin.saw('registered');
      await lab.says('4/4');
    });
  }
});
