import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { NodeCgroups } from '../../../../src/agent/resources/index.ts';
import {
  containerResources,
  oomScoreOf,
  overheadResources,
  quotaOf,
  readNodeCgroups,
  sandboxResources,
  sharesOf,
  weightOf,
} from '../../../../src/agent/resources/index.ts';
import type { ContainerSpec, Pod } from '../../../../src/api/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

type Resources = NonNullable<ContainerSpec['resources']>;
type Spec = NonNullable<Pod['spec']>;

const node = { cpuQuota: { isEnforced: true, periodUs: 100_000 }, capacity: { memory: '8Gi' } };
const cgroups: NodeCgroups = {
  version: 1,
  hasSwapLimit: true,
  pageSizes: ['2MB', '1GB'],
  killsSingleProcess: false,
};

function resourcesOf(resources: Resources, spec: Partial<Spec> = {}, on: object = {}) {
  const container = { name: 'c', image: 'i', resources };
  const made = containerResources({ spec: { containers: [container], ...spec } }, container, {
    ...node,
    ...on,
  });
  const { oomScoreAdj: _, hugepageLimits: __, ...rest } = made;
  return rest;
}

test('shares, quotas and weights', () => {
  const shares = [0, 1, 2, 100, 1000, 1500, 256_000, 1_000_000].map(sharesOf);
  assert.deepEqual(shares, [2, 2, 2, 102, 1024, 1536, 262_144, 262_144]);
  const quotas = [0, 1, 10, 250, 1000].map((millis) => quotaOf(millis, 100_000));
  assert.deepEqual(quotas, [0, 1000, 1000, 25_000, 100_000]);
  assert.equal(quotaOf(1000, 10_000), 10_000);
  assert.deepEqual([2, 102, 1024, 262_144].map(weightOf), [1, 4, 39, 10_000]);
});

describe('the limits of a container', () => {
  const period = { cpuPeriod: 100_000n };
  const cases: [name: string, resources: Resources, limits: object][] = [
    ['none', {}, { cpuShares: 2n, cpuQuota: 0n, ...period }],
    ['a request', { requests: { cpu: '250m' } }, { cpuShares: 256n, cpuQuota: 0n, ...period }],
    [
      'a limit alone counts as request',
      { limits: { cpu: '500m' } },
      { cpuShares: 512n, cpuQuota: 50_000n, ...period },
    ],
    [
      'a request of zero stays one',
      { requests: { cpu: '0' }, limits: { cpu: '1' } },
      { cpuShares: 2n, cpuQuota: 100_000n, ...period },
    ],
    [
      'memory',
      { limits: { memory: '1Mi' } },
      { cpuShares: 2n, memoryLimitInBytes: 1_048_576n, cpuQuota: 0n, ...period },
    ],
    [
      'a limit of zero is none',
      { limits: { memory: '0', cpu: '0' } },
      { cpuShares: 2n, cpuQuota: 0n, ...period },
    ],
    [
      'bytes are rounded up',
      { limits: { memory: '1500m' } },
      { cpuShares: 2n, memoryLimitInBytes: 2n, cpuQuota: 0n, ...period },
    ],
  ];
  for (const [name, resources, limits] of cases) {
    test(name, () => assert.deepEqual(resourcesOf(resources), limits));
  }

  test('the limits of the whole pod hold for a container without its own', () => {
    const made = resourcesOf(
      { limits: { cpu: '1' } },
      { resources: { limits: { cpu: '4', memory: '2Mi' } } },
    );
    assert.deepEqual(made, {
      cpuShares: 1024n,
      memoryLimitInBytes: 2_097_152n,
      cpuQuota: 100_000n,
      ...period,
    });
  });

  test('without enforced quotas neither quota nor period is given', () => {
    const off = { cpuQuota: { isEnforced: false, periodUs: 100_000 } };
    assert.deepEqual(resourcesOf({ limits: { cpu: '1' } }, {}, off), { cpuShares: 1024n });
  });

  test('no swap: with version 1 by a limit of both, with version 2 by a file', () => {
    const limits = { limits: { memory: '1Mi' } };
    assert.equal(resourcesOf(limits, {}, { cgroups }).memorySwapLimitInBytes, 1_048_576n);
    assert.equal(resourcesOf({}, {}, { cgroups }).memorySwapLimitInBytes, undefined);
    assert.equal(
      resourcesOf(limits, {}, { cgroups: { ...cgroups, hasSwapLimit: false } }).memorySwapLimitInBytes,
      undefined,
    );
    const made = resourcesOf(limits, {}, { cgroups: { ...cgroups, version: 2 } });
    assert.deepEqual(made.unified, { 'memory.oom.group': '1', 'memory.swap.max': '0' });
    assert.equal(made.memorySwapLimitInBytes, undefined);
  });

  test('with version 2 a container is killed as a whole, unless the node says otherwise', () => {
    const on = (change: Partial<NodeCgroups>) => ({
      cgroups: { ...cgroups, hasSwapLimit: false, ...change },
    });
    assert.deepEqual(resourcesOf({}, {}, on({ version: 2 })).unified, { 'memory.oom.group': '1' });
    assert.equal(resourcesOf({}, {}, on({ version: 2, killsSingleProcess: true })).unified, undefined);
    assert.equal(resourcesOf({}, {}, on({ version: 1 })).unified, undefined);
  });

  test('every size of huge pages has a limit', () => {
    const container = {
      name: 'c',
      image: 'i',
      resources: { limits: { 'hugepages-2Mi': '4Mi', 'hugepages-64Ki': '1Mi' } },
    };
    const made = containerResources({ spec: { containers: [container] } }, container, { ...node, cgroups });
    assert.deepEqual(made.hugepageLimits, [
      { pageSize: '2MB', limit: 4_194_304n },
      { pageSize: '1GB', limit: 0n },
    ]);
  });
});

test('a sandbox has the limits of all containers, and its overhead beside them', () => {
  const resources = { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Mi' } };
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i', resources }));
  const spec = { containers, overhead: { cpu: '250m', memory: '1Mi' } };
  assert.deepEqual(sandboxResources({ spec }, node), {
    cpuShares: 1024n,
    memoryLimitInBytes: 2_097_152n,
    cpuQuota: 200_000n,
    cpuPeriod: 100_000n,
  });
  assert.deepEqual(overheadResources({ spec }, node), {
    cpuShares: 256n,
    memoryLimitInBytes: 1_048_576n,
    cpuQuota: 25_000n,
    cpuPeriod: 100_000n,
  });
  assert.deepEqual(overheadResources({ spec: { containers } }, node), {});
});

describe('the score for the out-of-memory killer', () => {
  const capacity = 8n * 2n ** 30n * 10n ** 9n;
  const asking = (memory: string, change: Partial<ContainerSpec> = {}): ContainerSpec => ({
    name: 'c',
    image: 'i',
    resources: { requests: { memory } },
    ...change,
  });
  const score = (spec: Spec, container: ContainerSpec) => oomScoreOf({ spec }, container, capacity);
  const whole = { cpu: '1', memory: '1Gi' };

  test('by the class of the pod', () => {
    const bestEffort = { name: 'c', image: 'i' };
    const guaranteed = { name: 'c', image: 'i', resources: { requests: whole, limits: whole } };
    assert.equal(score({ containers: [bestEffort] }, bestEffort), 1000);
    assert.equal(score({ containers: [guaranteed] }, guaranteed), -997);
    assert.equal(
      score({ containers: [bestEffort], priorityClassName: 'system-node-critical' }, bestEffort),
      -997,
    );
    assert.equal(
      score({ containers: [bestEffort], priorityClassName: 'system-cluster-critical' }, bestEffort),
      1000,
    );
  });

  const burstable: [request: string, score: number][] = [
    ['1', 999],
    ['1Gi', 875],
    ['2Gi', 750],
    ['3Gi', 625],
    ['8Gi', 3],
    ['80Gi', 3],
  ];
  for (const [request, expected] of burstable) {
    test(`Burstable with ${request}`, () => {
      const container = asking(request);
      assert.equal(score({ containers: [container] }, container), expected);
    });
  }

  test('a sidecar counts as the smallest regular container, unless it requests more', () => {
    const small = asking('1Mi', { restartPolicy: 'Always' });
    const large = asking('4Gi', { restartPolicy: 'Always' });
    const init = asking('1Mi');
    const spec = { initContainers: [small, large, init], containers: [asking('2Gi'), asking('3Gi')] };
    assert.deepEqual(
      [small, large, init].map((each) => score(spec, each)),
      [750, 500, 999],
    );
  });

  test('what the pod requests beyond its containers is shared', () => {
    const containers = [asking('1Gi'), asking('1Gi')];
    const spec = { resources: { requests: { memory: '4Gi' } }, containers };
    assert.deepEqual(
      containers.map((each) => score(spec, each)),
      [750, 750],
    );
  });

  test('without a known capacity', () => {
    const container = asking('1Gi');
    assert.equal(oomScoreOf({ spec: { containers: [container] } }, container, 0n), 999);
  });
});

describe('what the cgroups of a node can do', () => {
  async function rootWith(files: Record<string, string>) {
    const folder = await temporaryFolder();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder.path, path)), { recursive: true });
      await writeFile(join(folder.path, path), text);
    }
    return folder;
  }
  const pages = {
    'sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0',
    'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '0',
    'sys/kernel/mm/hugepages/hugepages-64kB/nr_hugepages': '0',
  };

  test('version 2', async () => {
    await using root = await rootWith({
      ...pages,
      'sys/fs/cgroup/cgroup.controllers': 'cpu memory',
      'proc/self/cgroup': '0::/system.slice/nodeward.service\n',
      'sys/fs/cgroup/system.slice/nodeward.service/memory.swap.max': 'max',
    });
    assert.deepEqual(readNodeCgroups(root.path, true), {
      version: 2,
      hasSwapLimit: true,
      pageSizes: ['64KB', '2MB', '1GB'],
      killsSingleProcess: true,
    });
  });

  test('version 1 without swap accounting', async () => {
    await using root = await rootWith({ 'sys/fs/cgroup/memory/memory.limit_in_bytes': '' });
    const found = readNodeCgroups(root.path, false);
    assert.deepEqual(found, { version: 1, hasSwapLimit: false, pageSizes: [], killsSingleProcess: false });
  });
});
