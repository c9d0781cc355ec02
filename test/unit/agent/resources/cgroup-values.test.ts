import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CgroupTree } from '../../../../src/agent/resources/cgroup-tree.ts';
import {
  findContainerGroup,
  raisesOf,
  readLimits,
  readMemoryUse,
} from '../../../../src/agent/resources/cgroup-values.ts';
import { temporaryFolder } from '../../../support/index.ts';

type Files = Readonly<Record<string, string>>;

async function makeTree(version: 1 | 2, files: Files, child = '') {
  const folder = await temporaryFolder();
  const group = join(folder.path, 'pod1');
  await mkdir(join(group, child), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(group, name), text);
  const tree: CgroupTree = { version, roots: [folder.path], allRoots: [folder.path] };
  return { tree, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const infinity = Number.POSITIVE_INFINITY;

describe('the limits of a group', () => {
  const cases: readonly (readonly [1 | 2, Files, object])[] = [
    [2, { 'cpu.max': '50000 100000\n', 'memory.max': '1024\n' }, { cpus: 0.5, memoryBytes: 1024 }],
    [2, { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' }, { cpus: infinity, memoryBytes: infinity }],
    [2, { 'cpu.max': '50000 0', 'memory.max': '-1' }, { cpus: undefined, memoryBytes: undefined }],
    [2, {}, { cpus: undefined, memoryBytes: undefined }],
    [
      1,
      {
        ...{ 'cpu.shares': '102\n', 'cpu.cfs_quota_us': '-1\n', 'cpu.cfs_period_us': '100000\n' },
        'memory.limit_in_bytes': '9223372036854771712\n',
      },
      { cpuShares: 102, cpus: infinity, memoryBytes: infinity },
    ],
    [
      1,
      { 'cpu.cfs_quota_us': '200000', 'cpu.cfs_period_us': '100000', 'memory.limit_in_bytes': '4096' },
      { cpuShares: undefined, cpus: 2, memoryBytes: 4096 },
    ],
  ];
  test('are read from the files of either version; what is not there is not known', async () => {
    for (const [version, files, expected] of cases) {
      await using made = await makeTree(version, files);
      assert.deepEqual(readLimits(made.tree, ['pod1']), expected, JSON.stringify(files));
    }
  });

  test('are a number that may be, or not known, whatever the files say', async () => {
    await using made = await makeTree(1, {});
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom('max', '-1', '0', '9'.repeat(400), '1e9', '0x10', ' ', '\n', '1 2', '१'),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    );
    const names = ['cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us', 'cpu.max'];
    const all = [...names, 'memory.limit_in_bytes', 'memory.max', 'memory.stat'];
    const usage = ['memory.usage_in_bytes', 'memory.current'];
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...[...all, ...usage].map(() => text)),
        fc.boolean(),
        async (texts, isNew) => {
          const [root = ''] = made.tree.roots;
          for (const [index, name] of [...all, ...usage].entries())
            await writeFile(join(root, 'pod1', name), texts[index] ?? '');
          const tree: CgroupTree = { ...made.tree, version: isNew ? 2 : 1 };
          const used = readMemoryUse(tree, ['pod1']);
          for (const value of [...Object.values(readLimits(tree, ['pod1'])), used])
            assert.ok(value === undefined || value >= 0, `${value} of ${JSON.stringify(texts)}`);
          assert.ok(used === undefined || Number.isFinite(used));
        },
      ),
      { numRuns: 100 },
    );
  });
});

test('memory in use is what cannot be taken back: without file contents that lie unused', async () => {
  await using old = await makeTree(1, {
    'memory.usage_in_bytes': '5000\n',
    'memory.stat': 'inactive_file 1\ntotal_inactive_file 2000\n',
  });
  assert.equal(readMemoryUse(old.tree, ['pod1']), 3000);
  await using unified = await makeTree(2, {
    'memory.current': '5000\n',
    'memory.stat': 'anon 1\ninactive_file 6000\n',
  });
  assert.equal(readMemoryUse(unified.tree, ['pod1']), 0);
});

test('a group is raised where it has less, and only there', () => {
  const wanted = { cpuShares: 100, cpuQuota: { quotaUs: 50_000, periodUs: 100_000 }, memoryBytes: 2000 };
  assert.deepEqual(raisesOf(wanted, { cpuShares: 50, cpus: 0.25, memoryBytes: 1000 }), wanted);
  assert.deepEqual(raisesOf(wanted, { cpuShares: 200, cpus: infinity, memoryBytes: 2000 }), {});
  assert.deepEqual(raisesOf(wanted, {}), {});
  assert.deepEqual(raisesOf({ pids: 5 }, { cpuShares: 1 }), {});
});

test('the group of a container is found by its id, however the runtime writes it', async () => {
  await using plain = await makeTree(1, {}, 'abc123');
  assert.deepEqual(findContainerGroup(plain.tree, ['pod1'], 'abc123'), ['pod1', 'abc123']);
  await using scope = await makeTree(1, {}, 'cri-containerd-abc123.scope');
  assert.deepEqual(findContainerGroup(scope.tree, ['pod1'], 'abc123'), [
    'pod1',
    'cri-containerd-abc123.scope',
  ]);
  assert.equal(findContainerGroup(scope.tree, ['pod1'], 'other'), undefined);
  assert.equal(findContainerGroup(scope.tree, ['pod1'], ''), undefined);
});
