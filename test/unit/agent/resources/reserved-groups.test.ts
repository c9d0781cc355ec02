import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ReservedGroup, SliceManager } from '../../../../src/agent/resources/index.ts';
import {
  findReservedGroup,
  limitReservedGroup,
  openCgroupTree,
} from '../../../../src/agent/resources/index.ts';
import { fakeTree } from './fake-tree.ts';

const mebibyte = 2 ** 20;
const group: ReservedGroup = {
  ...{ side: 'system', isCompressible: false, cgroup: '/system.slice' },
  ...{ cpuMillis: 500, memoryBytes: 64 * mebibyte, pids: 100 },
};
const compressible: ReservedGroup = {
  ...group,
  isCompressible: true,
  memoryBytes: undefined,
  pids: undefined,
};

describe('the limits of what is reserved', () => {
  test('version 1: in the hierarchies that know them, and nothing beside', async () => {
    await using folder = await fakeTree(1, ['system.slice']);
    const read = (path: string) => readFile(join(folder.path, path), 'utf8');
    const tree = openCgroupTree(folder.path);
    await limitReservedGroup({ tree, driver: 'cgroupfs' }, compressible);
    assert.equal(await read('cpu/system.slice/cpu.shares'), '512');
    assert.equal(await read('memory/system.slice/memory.limit_in_bytes'), '');
    await limitReservedGroup({ tree, driver: 'cgroupfs' }, group);
    assert.equal(await read('memory/system.slice/memory.limit_in_bytes'), String(64 * mebibyte));
    assert.equal(await read('pids/system.slice/pids.max'), '100');
    assert.equal(await read('cpu/system.slice/cpu.cfs_quota_us'), '');
  });

  test('version 2; what is 0 limits nothing', async () => {
    await using folder = await fakeTree(2, ['system.slice']);
    const read = (file: string) => readFile(join(folder.path, 'system.slice', file), 'utf8');
    const tree = openCgroupTree(folder.path);
    await limitReservedGroup({ tree, driver: 'cgroupfs' }, { ...group, memoryBytes: 0, pids: 0 });
    assert.deepEqual(
      [await read('cpu.weight'), await read('memory.max'), await read('pids.max')],
      ['20', '', ''],
    );
    await limitReservedGroup({ tree, driver: 'cgroupfs' }, group);
    assert.deepEqual([await read('memory.max'), await read('pids.max')], [String(64 * mebibyte), '100']);
  });

  test('with systemd the name of a slice says where it lies, and systemd is told', async () => {
    await using folder = await fakeTree(2, [
      'kube.slice',
      'kube.slice/kube-node_agents.slice',
      'plain/agents',
    ]);
    const tree = openCgroupTree(folder.path);
    const asked: string[] = [];
    const slices: SliceManager = {
      apply: async (name, { cpuShares, memoryBytes, pids }) =>
        void asked.push(`${name} ${cpuShares} ${memoryBytes} ${pids}`),
      stop: () => assert.fail('it is others’'),
    };
    const target = { tree, driver: 'systemd', slices } as const;
    for (const cgroup of [
      '/kube-node_agents.slice',
      'kube-node_agents',
      '/kube.slice/kube-node_agents.slice',
    ]) {
      await limitReservedGroup(target, { ...group, cgroup });
      assert.equal(asked.pop(), `kube-node_agents.slice 512 ${64 * mebibyte} 100`);
      const path = join(folder.path, 'kube.slice/kube-node_agents.slice/pids.max');
      assert.equal(await readFile(path, 'utf8'), '100');
      await writeFile(path, '');
    }
    await limitReservedGroup(target, { ...group, cgroup: '/plain/agents' });
    assert.equal(await readFile(join(folder.path, 'plain/agents/pids.max'), 'utf8'), '100');
    assert.deepEqual(asked, [], 'a folder that is no slice is not systemd’s');
    const literal = findReservedGroup({ tree, driver: 'cgroupfs' }, { ...group, cgroup: 'kube-node_agents' });
    assert.ok('problem' in literal, 'with cgroupfs it is a path');
  });

  test('a group that is missing, or lacks what is to be limited, is told in the words of the reference', async () => {
    await using folder = await fakeTree(1, ['system.slice']);
    const tree = openCgroupTree(folder.path);
    const problemOf = (each: ReservedGroup) => {
      const found = findReservedGroup({ tree }, each);
      return 'problem' in found ? found.problem : undefined;
    };
    assert.equal(problemOf(group), undefined);
    assert.equal(
      problemOf({ ...group, side: 'kube', cgroup: '/kube' }),
      'Failed to enforce Kube Reserved Cgroup Limits on "/kube": cgroup "/kube" does not exist: create it before the agent starts',
    );
    await rm(join(folder.path, 'memory/system.slice'), { recursive: true });
    const path = join(folder.path, 'memory/system.slice');
    assert.equal(
      problemOf(group),
      `Failed to enforce System Reserved Cgroup Limits on "/system.slice": cgroup "/system.slice" has some missing paths: ${path}: create them before the agent starts`,
    );
    assert.equal(problemOf(compressible), undefined, 'only what is limited must be there');
    await rm(join(folder.path, 'pids'), { recursive: true });
    await mkdir(path);
    await writeFile(join(path, 'memory.limit_in_bytes'), '');
    const without = findReservedGroup({ tree: openCgroupTree(folder.path) }, group);
    assert.match(
      'problem' in without ? without.problem : '',
      /has some missing controllers: pids: switch them on/,
    );
    await assert.rejects(
      limitReservedGroup({ tree }, { ...compressible, cgroup: '/no' }),
      /Compressible Cgroup Limits/,
    );
  });

  test('memory that is in use is not taken away, and the rest is limited all the same', async () => {
    await using folder = await fakeTree(2, ['system.slice']);
    const path = (file: string) => join(folder.path, 'system.slice', file);
    await writeFile(path('memory.max'), 'max\n');
    await writeFile(path('memory.current'), String(100 * mebibyte));
    await writeFile(path('memory.stat'), `inactive_file ${30 * mebibyte}\n`);
    const target = { tree: openCgroupTree(folder.path), driver: 'cgroupfs' } as const;
    await assert.rejects(
      limitReservedGroup(target, group),
      /"\/system\.slice": it uses 73400320 bytes of memory, more than the 67108864 that are reserved/,
    );
    assert.deepEqual(
      [await readFile(path('memory.max'), 'utf8'), await readFile(path('pids.max'), 'utf8')],
      ['max\n', '100'],
    );
    await limitReservedGroup(target, { ...group, memoryBytes: 80 * mebibyte });
    assert.equal(await readFile(path('memory.max'), 'utf8'), String(80 * mebibyte));
  });
});
