import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadConfig } from '../../../../../src/agent/config/index.ts';
import { createPodLeftoverCheck } from '../../../../../src/agent/doctor/checks/pod-leftovers.ts';
import { createPodChecks, podHostChecks } from '../../../../../src/agent/doctor/checks/pods.ts';
import { createSwapCheck } from '../../../../../src/agent/doctor/checks/swap.ts';
import type { RuntimeReport } from '../../../../../src/agent/doctor/runtime-report.ts';
import type { Finding } from '../../../../../src/agent/doctor/types.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import { configFiles } from '../../config/config-files.ts';
import type { MachineOptions } from '../machine.ts';
import { makeMachine } from '../machine.ts';

const answering: RuntimeReport = {
  ...{ endpoint: 'unix:///r.sock', fault: undefined, name: 'containerd', version: '2.1.9', troubles: [] },
  ...{ features: undefined, checkpoint: 'ok', cgroupDriver: 'cgroupfs', folder: undefined },
};
const utilLinux = {
  mount: { output: 'mount from util-linux 2.38.1' },
  umount: { output: 'umount from util-linux 2.38.1' },
};

interface Look extends MachineOptions {
  runtime?: Partial<RuntimeReport>;
  /** A configuration file. */
  config?: string;
}

async function look(id: string, { runtime = {}, config = '', ...options }: Look = {}): Promise<Finding> {
  await using machine = await makeMachine({ programs: utilLinux, ...options });
  await using folder = await configFiles({ 'c.yaml': config });
  const loaded = await loadConfig({ config: `${folder.path}/c.yaml`, flags: {} });
  const checks = [
    ...createPodChecks({
      runtime: async () => ({ ...answering, ...runtime }),
      config: loaded.config,
      isDriverStated: config.includes('cgroupDriver'),
    }),
    ...podHostChecks,
    createSwapCheck(loaded.config.pods.refuses.swap),
    createPodLeftoverCheck('/var/lib/nodeward'),
  ];
  return await machine.run(checks, id);
}

const systemd = { 'proc/1/comm': 'systemd\n' };
const noNetwork = {
  troubles: [{ type: 'NetworkReady', text: 'NetworkPluginNotReady: cni plugin not initialized' }],
};
const away = { fault: new RuntimeError('unavailable', 'no socket') };
const separate =
  '22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 1 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n';
const sysctl = (value: string) => ({ 'proc/sys/net/ipv4/ip_forward': value });
const bridge = (value: string) => ({ 'proc/sys/net/bridge/bridge-nf-call-iptables': value });

type Row = [
  what: string,
  id: string,
  given: Look,
  verdict: Finding['verdict'],
  found: RegExp,
  advice?: RegExp,
];

const rows: readonly Row[] = [
  ['a network', 'pod-network', {}, 'ok', /ready/],
  ['no runtime', 'pod-network', { runtime: away }, 'unknown', /could not be asked/],
  [
    'no configuration of CNI',
    'pod-network',
    { runtime: noNetwork },
    'failed',
    /cni plugin not initialized; pods wait/,
    /there is none/,
  ],
  [
    'a configuration that does not help',
    'pod-network',
    { runtime: noNetwork, files: { 'etc/cni/net.d/10-bridge.conflist': '{}' } },
    'failed',
    /not initialized/,
    /\/opt\/cni\/bin/,
  ],
  [
    'one driver for all',
    'cgroup-driver',
    { runtime: { cgroupDriver: 'systemd' }, files: systemd },
    'ok',
    /uses systemd/,
  ],
  ['cgroupfs without systemd', 'cgroup-driver', {}, 'ok', /uses cgroupfs/],
  [
    'two managers of one tree',
    'cgroup-driver',
    { files: systemd },
    'warning',
    /beside systemd/,
    /SystemdCgroup = true/,
  ],
  [
    'systemd that does not run',
    'cgroup-driver',
    { runtime: { cgroupDriver: 'systemd' } },
    'failed',
    /does not run here/,
    /SystemdCgroup = false/,
  ],
  [
    'another one is configured',
    'cgroup-driver',
    { config: 'cgroupDriver: systemd' },
    'warning',
    /does not count/,
    /set cgroupDriver: cgroupfs/,
  ],
  [
    'a runtime that does not tell',
    'cgroup-driver',
    { runtime: { cgroupDriver: undefined } },
    'warning',
    /does not tell/,
    /set cgroupDriver/,
  ],
  [
    '… and the configuration does',
    'cgroup-driver',
    { runtime: { cgroupDriver: undefined }, config: 'cgroupDriver: systemd' },
    'ok',
    /cgroupDriver: systemd/,
  ],
  ['no runtime', 'cgroup-driver', { runtime: away }, 'unknown', /could not be asked/],
  ['version 2', 'pod-cgroups', {}, 'ok', /cpu, memory, pids/],
  ['version 1', 'pod-cgroups', { files: { 'proc/self/mountinfo': separate } }, 'ok', /version 1/],
  [
    'version 1 that is refused',
    'pod-cgroups',
    { files: { 'proc/self/mountinfo': separate }, config: 'failCgroupV1: true' },
    'failed',
    /failCgroupV1/,
    /unified_cgroup/,
  ],
  [
    'a tree that is locked',
    'pod-cgroups',
    { files: { 'proc/self/mountinfo': '24 22 0:5 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n' } },
    'failed',
    /read-only: \/sys\/fs\/cgroup/,
    /--privileged/,
  ],
  [
    'none at all',
    'pod-cgroups',
    { files: { 'proc/self/mountinfo': '22 1 8:1 / / rw - ext4 /dev/sda1 rw\n' } },
    'failed',
    /none is mounted/,
  ],
  [
    'controllers that are not delegated',
    'pod-cgroups',
    { config: 'cgroupRoot: /nodes', files: { 'sys/fs/cgroup/nodes/cgroup.controllers': 'cpu\n' } },
    'failed',
    /\/sys\/fs\/cgroup\/nodes lacks memory, pids/,
    /\+memory \+pids/,
  ],
  ['util-linux', 'mount-tools', {}, 'ok', /util-linux 2\.38/],
  [
    'no umount',
    'mount-tools',
    { programs: { 'mount ': utilLinux.mount } },
    'failed',
    /missing: umount/,
    /util-linux/,
  ],
  [
    'busybox',
    'mount-tools',
    { programs: { mount: { output: 'BusyBox v1.36' }, umount: utilLinux.umount } },
    'failed',
    /not of util-linux: mount/,
    /util-linux/,
  ],
  ['forwarding', 'ip-forward', { files: sysctl('1\n') }, 'ok', /on/],
  [
    'no forwarding',
    'ip-forward',
    { files: sysctl('0\n') },
    'warning',
    /off: pods reach nothing/,
    /sysctl -w net\.ipv4\.ip_forward=1/,
  ],
  ['forwarding that is hidden', 'ip-forward', {}, 'unknown', /cannot be read/],
  ['no bridge', 'bridge-netfilter', {}, 'not-applicable', /br_netfilter/],
  ['a bridge', 'bridge-netfilter', { files: bridge('1\n') }, 'ok', /on/],
  [
    'a bridge that is passed over',
    'bridge-netfilter',
    { files: bridge('0\n') },
    'warning',
    /Service/,
    /bridge-nf-call-iptables=1/,
  ],
  ['no kubelet', 'other-agent', { files: { 'proc/7/comm': 'bash\n' } }, 'ok', /none/],
  [
    'a kubelet',
    'other-agent',
    { files: { 'proc/7/comm': 'kubelet\n' } },
    'failed',
    /process 7/,
    /disable --now kubelet/,
  ],
  [
    'swap that is refused',
    'swap',
    { config: 'failSwapOn: true', files: { 'proc/swaps': 'Filename\n/dev/zram0 partition 1048572 0 -2\n' } },
    'failed',
    /zram0.*failSwapOn/,
    /failSwapOn: false/,
  ],
  ['no swap', 'swap', { config: 'failSwapOn: true' }, 'ok', /none is in use/],
];

describe('what pods need', () => {
  for (const [what, id, given, verdict, found, advice] of rows)
    test(`${id}, with ${what}: ${verdict}`, async () => {
      const finding = await look(id, given);
      assert.equal(finding.verdict, verdict, finding.found);
      assert.match(finding.found, found);
      if (advice !== undefined) assert.match(finding.advice ?? '', advice);
      else if (verdict === 'failed' || verdict === 'warning') assert.ok(finding.advice, 'it says what to do');
    });
});

describe('folders of pods that are gone', () => {
  const files = { 'var/lib/nodeward/pods/u1/etc-hosts': '', 'var/lib/nodeward/pod-records/u1.json': '{}' };
  const other = { ...files, 'var/lib/nodeward/pods/u2/etc-hosts': '' };
  const later = { nowMs: Date.now() + 7_300_000 };

  test('none, or none yet', async () => {
    assert.equal((await look('pod-leftovers')).verdict, 'ok');
    assert.equal((await look('pod-leftovers', { files, ...later })).verdict, 'ok');
    assert.equal((await look('pod-leftovers', { files: other, nowMs: Date.now() })).verdict, 'ok');
  });

  test('are named, with what is mounted in them', async () => {
    const mounts = '30 1 0:3 / /var/lib/nodeward/pods/u2/volumes/a rw - tmpfs tmpfs rw\n';
    const { verdict, found, advice } = await look('pod-leftovers', {
      files: { ...other, 'proc/self/mountinfo': mounts },
      ...later,
    });
    assert.equal(verdict, 'warning');
    assert.match(found, /^1 folder: \/var\/lib\/nodeward\/pods\/u2 \(2 hours old, 1 mount: .*volumes\/a\)$/);
    assert.match(advice ?? '', /fuser/);
  });
});
