import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { GroupFiles } from '../../../../src/agent/usage/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import type { GroupTexts } from './fake-groups.ts';
import { FakeGroups } from './fake-groups.ts';

async function openGroup(version: 1 | 2, texts: GroupTexts) {
  const folder = await temporaryFolder();
  const groups = new FakeGroups(join(folder.path, 'cgroup'), version);
  groups.write('pod1', texts);
  return {
    groups,
    files: new GroupFiles(groups.hierarchies),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const infinity = Number.POSITIVE_INFINITY;

describe('the limits of a group', () => {
  const cases: readonly (readonly [1 | 2, GroupTexts, object])[] = [
    [2, { 'cpu.max': '50000 100000\n', 'memory.max': '1024\n' }, { cpus: 0.5, memoryBytes: 1024 }],
    [2, { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' }, { cpus: infinity, memoryBytes: infinity }],
    [2, { 'cpu.max': '50000 0', 'memory.max': '-1' }, { cpus: undefined, memoryBytes: undefined }],
    [2, {}, { cpus: undefined, memoryBytes: undefined }],
    [
      1,
      {
        ...{ 'cpu/cpu.shares': '102\n', 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' },
        'memory/memory.limit_in_bytes': '9223372036854771712\n',
      },
      { cpuShares: 102, cpus: infinity, memoryBytes: infinity },
    ],
    [
      1,
      {
        ...{ 'cpu/cpu.cfs_quota_us': '200000', 'cpu/cpu.cfs_period_us': '100000' },
        'memory/memory.limit_in_bytes': '4096',
      },
      { cpuShares: undefined, cpus: 2, memoryBytes: 4096 },
    ],
  ];
  test('are read from the files of either version; what is not there is not known', async () => {
    for (const [version, texts, expected] of cases) {
      await using group = await openGroup(version, texts);
      assert.deepEqual(group.files.limits(['pod1']), expected, JSON.stringify(texts));
    }
  });

  test('and what is used are numbers that may be, or not known, whatever the files say', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom('max', '-1', '0', '9'.repeat(400), '1e9', '0x10', ' ', '\n', '1 2', '१'),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    );
    const names = {
      1: [
        ...['cpu/cpu.shares', 'cpu/cpu.cfs_quota_us', 'cpu/cpu.cfs_period_us', 'memory/memory.stat'],
        ...['memory/memory.limit_in_bytes', 'memory/memory.usage_in_bytes'],
      ],
      2: ['cpu.max', 'memory.max', 'memory.stat', 'memory.current'],
    };
    for (const version of [1, 2] as const) {
      await using group = await openGroup(version, {});
      fc.assert(
        fc.property(fc.tuple(...names[version].map(() => text)), (texts) => {
          group.groups.write(
            'pod1',
            Object.fromEntries(names[version].map((name, index) => [name, texts[index] ?? ''])),
          );
          const { workingSetBytes: used } = group.files.memory(['pod1']);
          for (const value of [...Object.values(group.files.limits(['pod1'])), used])
            assert.ok(value === undefined || value >= 0, `${value} of ${JSON.stringify(texts)}`);
          assert.ok(used === undefined || Number.isFinite(used));
        }),
        { numRuns: 100 },
      );
    }
  });
});

test('memory in use is what cannot be taken back: without file contents that lie unused', async () => {
  await using separate = await openGroup(1, {
    'memory/memory.usage_in_bytes': '5000\n',
    'memory/memory.stat': 'inactive_file 1\ntotal_inactive_file 2000\n',
  });
  assert.equal(separate.files.memory(['pod1']).workingSetBytes, 3000);
  await using unified = await openGroup(2, {
    'memory.current': '5000\n',
    'memory.stat': 'anon 1\ninactive_file 6000\n',
  });
  assert.equal(unified.files.memory(['pod1']).workingSetBytes, 0);
});

test('the group of a container is found by its id, however the runtime writes it', async () => {
  for (const name of ['abc123', 'cri-containerd-abc123.scope', 'crio-abc123.scope']) {
    await using group = await openGroup(1, {});
    group.groups.write('pod1/crio-conmon-abc123.scope', {});
    assert.equal(group.files.containersIn(['pod1']).get('abc123'), undefined);
    group.groups.write(`pod1/${name}`, {});
    assert.deepEqual(group.files.containersIn(['pod1']).get('abc123'), ['pod1', name]);
  }
});
