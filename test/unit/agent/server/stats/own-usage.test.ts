import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { NodeUsage, OwnUsageOptions } from '../../../../../src/agent/server/stats/index.ts';
import { statsRoutes } from '../../../../../src/agent/server/stats/index.ts';
import type { PodAt } from '../../../../../src/agent/server/stats/pods.ts';
import type { StatsRoutesOptions } from '../../../../../src/agent/server/stats/routes.ts';
import type { PodUsage } from '../../../../../src/agent/server/stats/usage.ts';
import { FolderSizes, PodDisks, PodGroups } from '../../../../../src/agent/usage/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { FakeGroups, separateGroup, unifiedGroup } from '../../usage/fake-groups.ts';
import { admin, ask, startServer } from '../running-server.ts';

const uid = 'u1';
const id = 'c'.repeat(64);
const sandbox = 'd'.repeat(64);
const podFolder = `kubepods/pod${uid}`;

const web: PodAt = {
  ...{ id: sandbox, name: 'web', namespace: 'default', uid, labels: {}, annotations: {}, createdMs: 5000 },
  ready: true,
  addresses: [],
  containers: [
    {
      ...{ id, name: 'app', attempt: 0, restartCount: 0, image: 'i', imageRef: 'i', state: 'running' },
      ...{ createdMs: 6500, startedMs: undefined, finishedMs: undefined, exitCode: undefined },
      ...{ reason: '', message: '' },
    },
  ],
};
/** Of both groups of `fake-groups.ts`. */
const throttling = { periods: 30, throttledPeriods: 20, throttledNanoSeconds: 5_000_000 };

const stray: PodAt = { ...web, id: 's9', name: 'stray', uid: 'u9', containers: [] };

const known: Pod = {
  metadata: { name: 'web', namespace: 'default', uid },
  spec: {
    containers: [{ name: 'app', image: 'i' }],
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'disk' } },
    ],
  },
};

const time = '2025-01-02T00:00:00Z';
const node: NodeUsage = {
  atMs: Date.parse(time),
  startTime: time,
  cpu: { time, usageCoreNanoSeconds: 1_500_000_000 },
  memory: { time, workingSetBytes: 7 },
  network: undefined,
  fs: { time, capacityBytes: 100, availableBytes: 60, usedBytes: 40 },
  imageFs: undefined,
  containerFs: undefined,
  rlimit: undefined,
};

/** A node whose groups, processes and folders are files of the test. */
async function openLab(version: 1 | 2, pods: readonly PodAt[] = [web], clock: Clock = systemClock) {
  const folder = await temporaryFolder();
  const groups = new FakeGroups(join(folder.path, 'cgroup'), version);
  const group = version === 1 ? separateGroup : unifiedGroup;
  for (const each of ['kubepods', podFolder, `${podFolder}/${id}`]) groups.write(each, group);
  const processes = version === 1 ? 'memory/cgroup.procs' : 'cgroup.procs';
  groups.write(`${podFolder}/${sandbox}`, { ...group, [processes]: '41\n' });
  const proc = join(folder.path, 'proc');
  for (const [pid, network] of [
    ['41', 'net:[2]'],
    ['self', 'net:[1]'],
  ] as const) {
    for (const each of ['ns', 'net']) mkdirSync(join(proc, pid, each), { recursive: true });
    symlinkSync(network, join(proc, pid, 'ns/net'));
  }
  writeFileSync(join(proc, '41/net/dev'), 'Inter-|\n face |\n  eth0: 1 0 2 0 0 0 0 0 3 0 4 0 0 0 0 0\n');
  const logs = join(folder.path, 'logs');
  const volumes = join(folder.path, 'volumes');
  for (const each of [join(logs, uid, 'app'), join(volumes, uid, 'scratch')])
    mkdirSync(each, { recursive: true });
  writeFileSync(join(logs, uid, 'app/0.log'), Buffer.alloc(20_000, 1));
  const layer = { atMs: Date.parse(time), usedBytes: 8, inodes: 1 };
  const own: OwnUsageOptions = {
    groups: new PodGroups({
      hierarchies: groups.hierarchies,
      podPaths: (each) => [['kubepods', `pod${each}`]],
      clock: systemClock,
    }),
    disks: new PodDisks({
      sizes: new FolderSizes({ clock: systemClock, log: silentLogger(), mountsBelow: () => [] }),
      layers: async () => new Map([[id, layer]]),
      logFolder: (pod, container) => join(logs, pod.metadata?.uid ?? '', container),
      emptyDirFolder: (podUid, volume) => join(volumes, podUid, volume),
    }),
    claims: () => [
      { namespace: 'other', claim: 'disk', bytes: undefined, inodes: undefined },
      { namespace: 'default', claim: 'disk', bytes: { total: 9, available: 4, used: 5 }, inodes: undefined },
    ],
    systemGroups: () => [
      { name: 'pods', path: ['kubepods'] },
      { name: 'none', path: ['none'] },
    ],
    procDir: proc,
  };
  const asked: string[] = [];
  const source: StatsRoutesOptions['source'] = {
    pods: async () => pods,
    usage: async (): Promise<readonly PodUsage[]> => {
      asked.push('usage');
      const none = { network: undefined, processes: undefined, containers: [] };
      const figures = { cpu: { time, usageCoreNanoSeconds: 3 }, memory: undefined };
      return [web, stray].map((pod) => ({ ...pod, ...none, ...figures }));
    },
    containerUsage: async () => [],
    imageDisks: async () => ({}),
  };
  const routes = statsRoutes({
    ...{ nodeName: 'n1', addresses: () => [], runtimeName: () => 'containerd', clock },
    ...{ source, own, known: () => [known], nodeUsage: async () => node },
  });
  const server = await startServer({ more: routes });
  return {
    port: server.port,
    /** What the runtime does. */
    source,
    asked,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const answerOf = async ({ port }: { readonly port: number }, path: string) =>
  (await ask(port, 'GET', path, admin)).body;

for (const version of [1, 2] as const) {
  describe(`the usage of pods by control groups of version ${version}`, () => {
    test('has every part of the summary, and the runtime is asked for no statistics', async () => {
      await using lab = await openLab(version);
      const { node: ofNode, pods } = JSON.parse(await answerOf(lab, '/stats/summary'));
      assert.deepEqual(lab.asked, []);
      const [system, ...others] = ofNode.systemContainers;
      assert.deepEqual([system.name, system.memory.rssBytes, others], ['pods', 1048576, []]);
      const [pod] = pods;
      const [container] = pod.containers;
      for (const each of [pod, container]) {
        const { time: _at, psi: _psi, ...memory } = each.memory;
        assert.deepEqual(memory, {
          ...{ usageBytes: 67108864, workingSetBytes: 60_000_000, rssBytes: 1048576 },
          ...{ availableBytes: 134217728 - 60_000_000, pageFaults: 7, majorPageFaults: 3 },
        });
        assert.deepEqual([each.cpu.usageCoreNanoSeconds, each.cpu.usageNanoCores], [1_000_000_000, 0]);
        assert(each.cpu.usageSpanMilliSeconds >= 200);
        assert.deepEqual(each.cpu.throttling, throttling);
        assert.equal(each.swap.swapUsageBytes, 4096);
        assert.equal(each.memory.psi?.some.total, version === 2 ? 77 : undefined);
      }
      assert.equal(container.rootfs.usedBytes, 8);
      assert(container.logs.usedBytes >= 20_000);
      assert.equal(container.logs.capacityBytes, 100);
      assert(pod['ephemeral-storage'].usedBytes > container.logs.usedBytes);
      assert.deepEqual(pod.process_stats, { process_count: 5 });
      assert.equal(pod.network.name === 'eth0' || pod.network.interfaces[0].txBytes === 3, true);
      const [scratch, data] = pod.volume;
      assert.deepEqual([scratch.name, scratch.inodesUsed, scratch.pvcRef], ['scratch', 1, undefined]);
      const claim = { availableBytes: 4, capacityBytes: 9, usedBytes: 5 };
      assert.deepEqual(data, {
        time,
        ...claim,
        name: 'data',
        pvcRef: { name: 'disk', namespace: 'default' },
      });
    });

    test('has nothing but CPU and memory where that is asked', async () => {
      await using lab = await openLab(version);
      const { pods } = JSON.parse(await answerOf(lab, '/stats/summary?only_cpu_and_memory=true'));
      assert.deepEqual(Object.keys(pods[0]).sort(), [
        'containers',
        'cpu',
        'memory',
        'podRef',
        'startTime',
        'swap',
      ]);
      assert.deepEqual(Object.keys(pods[0].containers[0]).sort(), [
        'cpu',
        'memory',
        'name',
        'startTime',
        'swap',
      ]);
      assert.deepEqual(pods[0].containers[0].cpu.throttling, throttling);
    });
  });
}

test('a pod without a group of this agent is as the runtime says, others are not', async () => {
  await using lab = await openLab(1, [web, stray]);
  const { pods } = JSON.parse(await answerOf(lab, '/stats/summary'));
  const usage = new Map<string, number>();
  for (const { podRef, cpu } of pods) usage.set(podRef.name, cpu.usageCoreNanoSeconds);
  assert.deepEqual([...usage].sort(), [
    ['stray', 3],
    ['web', 1_000_000_000],
  ]);
  assert.deepEqual(lab.asked, ['usage']);
});

describe('/metrics/resource', () => {
  test('has the figures of the reference, with the time of each', async () => {
    await using lab = await openLab(1);
    const text = await answerOf(lab, '/metrics/resource');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const patterns = [
      /^container_cpu_usage_seconds_total\{container="app",namespace="default",pod="web"\} 1 \d{13}$/,
      /^container_memory_working_set_bytes\{container="app",namespace="default",pod="web"\} 60000000 \d{13}$/,
      /^container_swap_usage_bytes\{container="app",namespace="default",pod="web"\} 4096 \d{13}$/,
      /^container_start_time_seconds\{container="app",namespace="default",pod="web"\} 6.5$/,
      /^node_cpu_usage_seconds_total 1.5 1735776000000$/,
      /^node_memory_working_set_bytes 7 1735776000000$/,
      /^pod_cpu_usage_seconds_total\{namespace="default",pod="web"\} 1 \d{13}$/,
      /^pod_memory_working_set_bytes\{namespace="default",pod="web"\} 60000000 \d{13}$/,
      /^pod_swap_usage_bytes\{namespace="default",pod="web"\} 4096 \d{13}$/,
      /^resource_scrape_error 0$/,
    ];
    assert.equal(lines.length, patterns.length, text);
    for (const [index, pattern] of patterns.entries()) assert.match(lines[index] ?? '', pattern);
  });
});

describe('without the runtime', () => {
  const nodeFigures = [
    /^node_cpu_usage_seconds_total 1.5 1735776000000$/m,
    /^node_memory_working_set_bytes 7 1735776000000$/m,
    /^resource_scrape_error 1$/m,
  ];

  test('the figures of the node are there, and that those of pods are missing is said', async () => {
    await using lab = await openLab(1);
    const away = () => Promise.reject(new RuntimeError('unavailable', 'gone'));
    lab.source.pods = away;
    lab.source.imageDisks = away;
    for (const [query, more] of [
      ['?only_cpu_and_memory=true', []],
      ['', ['fs', 'runtime']],
    ] as const) {
      const { code, body, headers } = await ask(lab.port, 'GET', `/stats/summary${query}`, admin);
      assert.deepEqual(
        [code, headers['warning']],
        [200, '299 - "the container runtime cannot be asked: gone; what pods use is not complete"'],
      );
      const { node: found, pods } = JSON.parse(body);
      const known = ['nodeName', 'startTime', 'cpu', 'memory', 'systemContainers', ...more];
      assert.deepEqual([Object.keys(found), found.systemContainers[0].name], [known, 'pods']);
      assert.deepEqual([found.cpu, found.memory, pods], [node.cpu, node.memory, []]);
    }
    const { code, body } = await ask(lab.port, 'GET', '/metrics/resource', admin);
    assert.equal(code, 200);
    for (const line of nodeFigures) assert.match(body, line);
    assert.doesNotMatch(body, /^(?:pod|container)_/m);
  });

  test('that hangs CPU and memory are waited for less long than the control plane waits', async () => {
    const clock = createManualClock();
    await using lab = await openLab(1, [web], clock);
    lab.source.pods = () => new Promise(() => undefined);
    lab.source.imageDisks = () => new Promise(() => undefined);
    for (const [path, ms] of [
      ['/stats/summary?only_cpu_and_memory=true', 2000],
      ['/metrics/resource', 2000],
      ['/stats/summary', 8000],
    ] as const) {
      const asked = ask(lab.port, 'GET', path, admin);
      await waitFor('the question', () => clock.sleepers > 0);
      await clock.advance(ms);
      const { code, body, headers } = await asked;
      assert.equal(code, 200);
      if (path === '/metrics/resource') for (const line of nodeFigures) assert.match(body, line);
      else {
        assert.deepEqual(JSON.parse(body).node.cpu, node.cpu);
        assert.match(String(headers['warning']), new RegExp(`it did not answer within ${ms / 1000} s; `));
      }
    }
  });

  test('pods with a group of this agent have their figures though the runtime does not answer for others', async () => {
    await using lab = await openLab(1, [web, stray]);
    lab.source.usage = () => Promise.reject(new RuntimeError('timeout', 'stuck'));
    const { body, headers } = await ask(lab.port, 'GET', '/stats/summary', admin);
    assert.match(String(headers['warning']), /stuck/);
    const usage = new Map<string, unknown>();
    for (const { podRef, cpu } of JSON.parse(body).pods) usage.set(podRef.name, cpu?.usageCoreNanoSeconds);
    assert.deepEqual([...usage].sort(), [
      ['stray', undefined],
      ['web', 1_000_000_000],
    ]);
    const { body: metrics } = await ask(lab.port, 'GET', '/metrics/resource', admin);
    assert.match(metrics, /^pod_cpu_usage_seconds_total\{namespace="default",pod="web"\} 1 /m);
    assert.match(metrics, /^resource_scrape_error 1$/m);
  });
});
