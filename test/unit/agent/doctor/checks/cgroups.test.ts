import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cgroupChecks } from '../../../../../src/agent/doctor/checks/cgroups.ts';
import { securityChecks } from '../../../../../src/agent/doctor/checks/security.ts';
import { findMount, parseMounts } from '../../../../../src/agent/doctor/mounts.ts';
import type { MachineOptions } from '../machine.ts';
import { makeMachine } from '../machine.ts';

async function look(options: MachineOptions) {
  await using machine = await makeMachine(options);
  const checks = [...cgroupChecks, ...securityChecks];
  const rows = await Promise.all(checks.map(async ({ id }) => [id, await machine.run(checks, id)] as const));
  return Object.fromEntries(rows.map(([id, { verdict, found }]) => [id, { verdict, found }]));
}

const old = ['cpu', 'cpuset', 'memory', 'pids', 'freezer']
  .map((name, index) => `${30 + index} 1 0:3 / /sys/fs/cgroup/${name} rw - cgroup cgroup rw,${name}`)
  .join('\n');
const root = '22 1 8:1 / / rw - ext4 /dev/sda1 rw';

describe('control groups', () => {
  test('version 2', async () => {
    const found = await look({});
    assert.deepEqual(
      ['cgroup-version', 'cgroup-controllers', 'cgroup-cpu-stat', 'cgroup-freezer'].map((id) => found[id]),
      [
        { verdict: 'ok', found: 'version 2' },
        { verdict: 'ok', found: 'usable: cpu, cpuset, io, memory, pids' },
        { verdict: 'ok', found: 'there' },
        { verdict: 'ok', found: 'seen in the group system.slice' },
      ],
    );
  });

  test('version 1, alone and with an empty tree of version 2', async () => {
    const alone = await look({ files: { 'proc/self/mountinfo': `${root}\n${old}\n` } });
    assert.deepEqual(alone['cgroup-version']?.verdict, 'warning');
    assert.match(alone['cgroup-version']?.found ?? '', /^version 1;/);
    assert.equal(alone['cgroup-controllers']?.verdict, 'ok');
    assert.equal(alone['cgroup-cpu-stat']?.verdict, 'not-applicable');
    assert.equal(alone['cgroup-freezer']?.verdict, 'ok');
    const unified = '40 1 0:9 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw';
    const hybrid = await look({ files: { 'proc/self/mountinfo': `${root}\n${old}\n${unified}\n` } });
    assert.match(hybrid['cgroup-version']?.found ?? '', /empty tree of version 2/);
  });

  test('a container or a board without controllers', async () => {
    const found = await look({ files: { 'sys/fs/cgroup/cgroup.controllers': 'cpu pids\n' } });
    assert.equal(found['cgroup-controllers']?.verdict, 'failed');
    assert.match(found['cgroup-controllers']?.found ?? '', /missing: memory/);
  });

  test('an old kernel with version 2 cannot freeze', async () => {
    const kernel = '4.19.0';
    const files = {
      'sys/fs/cgroup/system.slice/cgroup.freeze': undefined,
      'sys/fs/cgroup/cpu.stat': undefined,
    };
    const found = await look({ kernel, files });
    assert.equal(found['cgroup-freezer']?.verdict, 'failed');
    assert.equal(found['cgroup-cpu-stat']?.verdict, 'warning');
  });

  test('no control groups at all', async () => {
    const found = await look({ files: { 'proc/self/mountinfo': `${root}\n` } });
    assert.equal(found['cgroup-version']?.verdict, 'failed');
    assert.equal(found['cgroup-controllers']?.verdict, 'not-applicable');
  });
});

describe('security', () => {
  test('a kernel without seccomp, and one that knows few actions', async () => {
    const none = await look({ files: { 'proc/self/status': 'Name:\tnode\n' } });
    assert.equal(none['seccomp']?.verdict, 'failed');
    const few = await look({
      files: { 'proc/sys/kernel/seccomp/actions_avail': 'kill trap errno trace allow\n' },
    });
    assert.deepEqual(few['seccomp'], { verdict: 'warning', found: 'missing: kill_process, log' });
    assert.equal((await look({}))['seccomp']?.verdict, 'ok');
  });

  test('AppArmor on, off, missing, and hidden from an ordinary user', async () => {
    const profiles = 'sys/kernel/security/apparmor/profiles';
    const enabled = 'sys/module/apparmor/parameters/enabled';
    assert.equal((await look({}))['apparmor']?.found, 'on, 2 profiles loaded');
    assert.equal((await look({ files: { [enabled]: 'N\n' } }))['apparmor']?.verdict, 'warning');
    assert.equal((await look({ files: { [enabled]: undefined } }))['apparmor']?.verdict, 'not-applicable');
    const hidden = await look({ user: 1000, files: { [profiles]: undefined } });
    assert.match(hidden['apparmor']?.found ?? '', /^on; .* cannot be seen/);
  });
});

describe('mounts', () => {
  test('the one that a path is on is the last of the longest, with blanks in names', () => {
    const mounts = parseMounts(
      [
        root,
        '23 22 8:2 / /var/lib rw,noexec - xfs /dev/sdb1 rw',
        '24 22 8:3 / /var/lib ro - ext4 /dev/sdc1 rw',
        '25 22 8:4 / /mnt/a\\040b rw - nfs4 server:/x rw',
      ].join('\n'),
    );
    assert.equal(findMount(mounts, '/var/lib/nodeward')?.type, 'ext4');
    assert.equal(findMount(mounts, '/var/lib2')?.point, '/');
    assert.equal(findMount(mounts, '/mnt/a b/c')?.type, 'nfs4');
  });
});
