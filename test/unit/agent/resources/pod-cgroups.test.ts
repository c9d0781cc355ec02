import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { CgroupNaming, SliceManager } from '../../../../src/agent/resources/index.ts';
import { openCgroupTree, PodCgroups } from '../../../../src/agent/resources/index.ts';
import { raisesOf } from '../../../../src/agent/resources/pod-limits.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { cgroupName, isAlive, removeCgroup, temporaryFolder, waitFor } from '../../../support/index.ts';
import { fakeTree } from './fake-tree.ts';

const uid = '7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11';
const limits = { cpuQuota: { isEnforced: true, periodUs: 100_000 }, maxPids: 40 };
const naming: CgroupNaming = { driver: 'cgroupfs', root: '/' };

function pod(resources: object, name = uid): Pod {
  return { metadata: { uid: name }, spec: { containers: [{ name: 'c', image: 'i', resources }] } };
}

const burstable = pod({ requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } });
const bestEffort = pod({});

const tiers = ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'];
const podFolder = `kubepods/burstable/pod${uid}`;

const settings = { naming, limits, clock: systemClock };

function openGroups(path: string, own: CgroupNaming = naming, slices?: SliceManager): PodCgroups {
  return new PodCgroups({ ...settings, tree: openCgroupTree(path), naming: own, slices });
}

describe('the cgroups of pods, in files that stand for the kernel’s', () => {
  test('version 1: all limits of a pod and of what is above it', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    const read = (path: string) => readFile(join(folder.path, path), 'utf8');
    const groups = openGroups(folder.path);
    assert.deepEqual(await groups.prepare({ cpuMillis: 3800, memoryBytes: 7 * 2 ** 30, pids: 30_000 }), []);
    await groups.make(burstable);
    await groups.refreshTiers([burstable, pod({ requests: { cpu: '1500m' } }), bestEffort]);
    assert.equal(await read('cpu/kubepods/cpu.shares'), '3891');
    assert.equal(await read('memory/kubepods/memory.limit_in_bytes'), String(7 * 2 ** 30));
    assert.equal(await read('pids/kubepods/pids.max'), '30000');
    assert.equal(await read('cpu/kubepods/burstable/cpu.shares'), '2048');
    assert.equal(await read('cpu/kubepods/besteffort/cpu.shares'), '2');
    assert.equal(await read(`cpu/${podFolder}/cpu.shares`), '512');
    assert.equal(await read(`cpu/${podFolder}/cpu.cfs_quota_us`), '100000');
    assert.equal(await read(`cpu/${podFolder}/cpu.cfs_period_us`), '100000');
    assert.equal(await read(`memory/${podFolder}/memory.limit_in_bytes`), String(64 * 2 ** 20));
    assert.equal(await read(`pids/${podFolder}/pids.max`), '40');
    for (const each of [...tiers, podFolder]) {
      assert.equal(await read(`cpuset/${each}/cpuset.cpus`), '0-1');
      assert.equal(await read(`cpuset/${each}/cpuset.mems`), '0-1');
    }
    assert.equal(groups.parentOf(burstable), `/${podFolder}`);
    assert.equal(groups.has(burstable), true);
  });

  test('version 2: weights, and the controllers are handed on', async () => {
    await using folder = await fakeTree(2, [...tiers, podFolder]);
    const read = (path: string) => readFile(join(folder.path, path), 'utf8');
    const groups = openGroups(folder.path);
    await groups.prepare({ cpuMillis: 2000 });
    await groups.make(burstable);
    assert.equal(await read(`${podFolder}/cpu.weight`), '20');
    assert.equal(await read(`${podFolder}/cpu.max`), '100000 100000');
    assert.equal(await read(`${podFolder}/memory.max`), String(64 * 2 ** 20));
    assert.equal(await read(`${podFolder}/pids.max`), '40');
    assert.equal(await read('kubepods/memory.max'), '');
    assert.match(await read('cgroup.subtree_control'), /^\+pids/);
    assert.match(await read(`${podFolder}/cgroup.subtree_control`), /^\+pids/);
  });

  test('a group is raised where it has less, and only there', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    const groups = openGroups(folder.path);
    const files = [`cpu/${podFolder}/cpu.shares`, `memory/${podFolder}/memory.limit_in_bytes`] as const;
    const write = (path: string, text: string) => writeFile(join(folder.path, path), text);
    await write(files[0], '600\n');
    await write(files[1], '4096\n');
    await groups.raise(burstable);
    const found = await Promise.all(files.map((file) => readFile(join(folder.path, file), 'utf8')));
    assert.deepEqual(found, ['600\n', String(64 * 2 ** 20)]);
    const wanted = { cpuShares: 100, cpuQuota: { quotaUs: 50_000, periodUs: 100_000 }, memoryBytes: 2000 };
    assert.deepEqual(raisesOf(wanted, { cpuShares: 50, cpus: 0.25, memoryBytes: 1000 }), wanted);
    const unlimited = { cpuShares: 200, cpus: Number.POSITIVE_INFINITY, memoryBytes: 2000 };
    assert.deepEqual(raisesOf(wanted, unlimited), {});
    assert.deepEqual(raisesOf(wanted, {}), {});
    assert.deepEqual(raisesOf({ pids: 5 }, { cpuShares: 1 }), {});
  });

  test('a lower limit of memory is short where more is in use, of the pod and of a container', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder, `${podFolder}/cri-containerd-c1.scope`]);
    const groups = openGroups(folder.path);
    const mebi = 2 ** 20;
    const write = async (group: string, limitBytes: number, usageBytes: number) => {
      const at = join(folder.path, 'memory', group);
      await writeFile(join(at, 'memory.limit_in_bytes'), `${limitBytes}\n`);
      await writeFile(join(at, 'memory.usage_in_bytes'), `${usageBytes + 1000}\n`);
      await writeFile(join(at, 'memory.stat'), 'total_inactive_file 1000\n');
    };
    await write(podFolder, 128 * mebi, 100 * mebi);
    await write(`${podFolder}/cri-containerd-c1.scope`, 64 * mebi, 50 * mebi);
    assert.deepEqual(groups.memoryShortages(burstable, new Map([['c1', 40 * mebi]])), [
      { limitBytes: 64 * mebi, usageBytes: 100 * mebi },
      { limitBytes: 40 * mebi, usageBytes: 50 * mebi, containerId: 'c1' },
    ]);
    await write(podFolder, 64 * mebi, 100 * mebi); // no lower than it is
    const others = new Map([
      ['c1', 51 * mebi],
      ['c2', mebi],
    ]);
    assert.deepEqual(groups.memoryShortages(burstable, others), []);
  });

  test('controllers that the machine does not have are reported, and pods run without their limits', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    await rm(join(folder.path, 'memory'), { recursive: true });
    await rm(join(folder.path, 'pids'), { recursive: true });
    const groups = openGroups(folder.path);
    assert.deepEqual(await groups.prepare({ cpuMillis: 1000, memoryBytes: 1 }), ['memory', 'pids']);
    await groups.make(burstable);
    assert.equal(await readFile(join(folder.path, `cpu/${podFolder}/cpu.shares`), 'utf8'), '512');
  });

  test('one hierarchy without the group means that it is not there', async () => {
    await using folder = await fakeTree(1, tiers);
    const groups = openGroups(folder.path);
    assert.equal(groups.has(bestEffort), false);
    await mkdir(join(folder.path, 'cpu/kubepods/besteffort', `pod${uid}`));
    assert.equal(groups.has(bestEffort), false);
    for (const each of ['cpuset', 'memory', 'pids']) {
      await mkdir(join(folder.path, each, 'kubepods/besteffort', `pod${uid}`));
    }
    assert.equal(groups.has(bestEffort), true);
  });

  test('a uid or a root that leads elsewhere is refused', async () => {
    await using folder = await fakeTree(1, tiers);
    const groups = openGroups(folder.path);
    for (const bad of ['', '.', '..', '../x', 'a/b', 'a\0b', '-a', 'a'.repeat(200)]) {
      await assert.rejects(groups.remove(bad), /cannot name a cgroup/, bad);
      await assert.rejects(groups.make(pod({}, bad)), /cannot name a cgroup/, bad);
    }
    const outside = openGroups(folder.path, { driver: 'cgroupfs', root: '/a/../../b' });
    await assert.rejects(outside.make(bestEffort), /must not contain \.\./);
  });

  test('processes that may not be killed are left running, not frozen', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    const state = join(folder.path, 'cpu', podFolder, 'freezer.state');
    await writeFile(state, '');
    await writeFile(join(folder.path, 'cpu', podFolder, 'cgroup.procs'), '0\n1\n4194300\n');
    const asked: string[] = [];
    const kill = (pid: number) => {
      asked.push(`${pid} ${readFileSync(state, 'utf8')}`);
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    };
    const groups = new PodCgroups({ ...settings, tree: openCgroupTree(folder.path), kill });
    await assert.rejects(groups.remove(uid), /not permitted/);
    assert.deepEqual(asked, ['4194300 FROZEN']);
    assert.equal(await readFile(state, 'utf8'), 'THAWED');
  });

  test('the group that this process is in is kept', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    await writeFile(join(folder.path, 'cpu', podFolder, 'cgroup.procs'), `${process.pid}\n`);
    await assert.rejects(
      openGroups(folder.path).remove(uid),
      /this process runs in the cgroup .* so it is kept/,
    );
  });

  test('a group that cannot be removed is an error that names it', async () => {
    await using folder = await fakeTree(1, [...tiers, podFolder]);
    const clock = { ...systemClock, sleep: async () => undefined };
    const groups = new PodCgroups({ ...settings, clock, tree: openCgroupTree(folder.path) });
    await assert.rejects(
      groups.remove(uid),
      /cannot remove the cgroup of pod 7f1c.*: no process can be seen in it/,
    );
  });

  test('a folder without control groups is an error that says what to do', async () => {
    await using folder = await temporaryFolder();
    assert.throws(() => openCgroupTree(folder.path), /has no control groups: mount cgroup2 there/);
  });

  test('with the driver systemd they are slices, which systemd is asked for', async () => {
    const slice = `kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
    const folders = ['kubepods.slice', 'kubepods.slice/kubepods-burstable.slice'];
    const below = `kubepods.slice/kubepods-burstable.slice/${slice}`;
    await using folder = await fakeTree(2, [...folders, 'kubepods.slice/kubepods-besteffort.slice', below]);
    const asked: string[] = [];
    const slices: SliceManager = {
      apply: async (name, own) => void asked.push(`${name} ${own.cpuShares} ${own.pids}`),
      stop: async (name) => {
        asked.push(`stop ${name}`);
        await rm(join(folder.path, below), { recursive: true });
      },
    };
    const groups = openGroups(folder.path, { driver: 'systemd', root: '/' }, slices);
    assert.equal(groups.parentOf(burstable), slice);
    await groups.prepare({ cpuMillis: 1000 });
    await groups.refreshTiers([burstable]);
    await groups.refreshTiers([burstable]);
    await groups.make(burstable);
    assert.equal(groups.has(burstable), true);
    assert.equal(await readFile(join(folder.path, below, 'pids.max'), 'utf8'), '40');
    await groups.remove(uid);
    assert.equal(groups.has(burstable), false);
    assert.deepEqual(asked, [
      'kubepods.slice 1024 undefined',
      'kubepods-burstable.slice undefined undefined',
      'kubepods-besteffort.slice undefined undefined',
      'kubepods-burstable.slice 512 undefined',
      'kubepods-besteffort.slice 2 undefined',
      `${slice} 512 40`,
      `stop ${slice}`,
    ]);
    const other = openGroups(folder.path, { driver: 'systemd', root: '/my-root' }, slices);
    assert.equal(
      other.parentOf(bestEffort),
      `my_root-kubepods-besteffort-pod${uid.replaceAll('-', '_')}.slice`,
    );
    assert.throws(() => openGroups(folder.path, { driver: 'systemd', root: '/' }), /needs systemd/);
  });
});

const isRoot = process.geteuid?.() === 0;

/** A shell that waits in the group of a container for its script. */
interface Shell {
  readonly pid: number;
  /** Of the container, in each hierarchy. */
  readonly folders: readonly string[];
  run(script: string): void;
}

/**
 * Runs `work` with groups below one of the test's own. In version 2 that one stands for the root: to the machine's root no
 * controllers are written, so there are no limits.
 */
async function withShellInPod(
  mount: string,
  work: (shell: Shell, groups: PodCgroups) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const name = cgroupName(folder.path);
  const isUnified = openCgroupTree(mount).version === 2;
  const mountRoot = isUnified ? join(mount, name) : mount;
  const child = spawn('sh', [], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.on('error', () => undefined); // it is killed while it reads
  try {
    if (isUnified) await mkdir(mountRoot);
    const root = isUnified ? '/' : `/${name}`;
    const groups = openGroups(mountRoot, { driver: 'cgroupfs', root });
    await groups.prepare({ cpuMillis: 1000 });
    await groups.make(burstable);
    const tops = openCgroupTree(mountRoot).roots.map((each) => join(each, root, podFolder));
    const pid = child.pid ?? 0;
    const folders = await Promise.all(tops.map((top) => enterContainer(top, pid)));
    await work({ pid, folders, run: (script) => void child.stdin.write(`${script}\n`) }, groups);
  } finally {
    child.kill('SIGKILL');
    await removeCgroup(name);
  }
}

/** As a runtime does. */
async function enterContainer(top: string, pid: number): Promise<string> {
  const folder = join(top, 'container');
  await mkdir(folder);
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (existsSync(join(folder, file))) await writeFile(join(folder, file), await readFile(join(top, file)));
  }
  await writeFile(join(folder, 'cgroup.procs'), String(pid));
  return folder;
}

const remaining = (folders: readonly string[]) => folders.map(dirname).filter((each) => existsSync(each));

/** With version 1 there is an empty tree of version 2 beside it. */
const mounts = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].filter((root) => existsSync(root));

for (const mount of mounts) {
  describe(`the cgroups of this machine in ${mount}`, { skip: !isRoot && 'needs root' }, () => {
    test('a pod’s group is made, limited, and removed with the process in it', async () => {
      await withShellInPod(mount, async ({ folders, pid }, groups) => {
        await groups.make(burstable);
        assert.equal(groups.has(burstable), true);
        const file = folders.map((each) => join(each, '../pids.max')).find((each) => existsSync(each));
        if (file !== undefined) assert.equal((await readFile(file, 'utf8')).trim(), '40');
        await groups.remove(uid);
        assert.deepEqual(remaining(folders), []);
        assert.equal(groups.has(burstable), false);
        await groups.remove(uid);
        await waitFor('the process to be gone', async () => !(await isAlive(pid)));
      });
    });

    test('processes that start others without end are removed, too', async () => {
      await withShellInPod(mount, async ({ folders, run }, groups) => {
        run('n=0; while [ $n -lt 3000 ]; do n=$((n+1)); sleep 0.3 & done');
        const processes = () => readFile(join(folders[0] ?? '', 'cgroup.procs'), 'utf8');
        await waitFor('many processes', async () => (await processes()).split('\n').length > 20);
        await groups.remove(uid);
        assert.deepEqual(remaining(folders), []);
      });
    });

    test('a group that a checkpoint left frozen is removed', async () => {
      await withShellInPod(mount, async ({ folders }, groups) => {
        for (const each of folders) {
          if (existsSync(join(each, 'freezer.state'))) await writeFile(join(each, 'freezer.state'), 'FROZEN');
          if (existsSync(join(each, 'cgroup.freeze'))) await writeFile(join(each, 'cgroup.freeze'), '1');
        }
        await groups.remove(uid);
        assert.deepEqual(remaining(folders), []);
      });
    });
  });
}
