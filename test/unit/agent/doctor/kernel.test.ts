import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFeatureChecks } from '../../../../src/agent/doctor/checks/kernel-features.ts';
import { createSysctlChecks } from '../../../../src/agent/doctor/checks/kernel-sysctls.ts';
import { createSwapCheck } from '../../../../src/agent/doctor/checks/swap.ts';
import type { RuntimeReport } from '../../../../src/agent/doctor/runtime-report.ts';
import { isAtLeast } from '../../../../src/agent/doctor/versions.ts';
import type { MachineOptions } from './machine.ts';
import { makeMachine } from './machine.ts';

const silent: RuntimeReport = {
  endpoint: undefined,
  fault: undefined,
  name: undefined,
  version: undefined,
  troubles: undefined,
  features: undefined,
  checkpoint: undefined,
  cgroupDriver: undefined,
  folder: undefined,
};

async function verdicts(options: MachineOptions, features?: RuntimeReport['features']) {
  await using machine = await makeMachine(options);
  const checks = [
    ...createSysctlChecks(),
    ...createFeatureChecks(async () => ({ ...silent, features })),
    createSwapCheck(false),
  ];
  const found = await Promise.all(
    checks.map(async ({ id }) => [id, (await machine.run(checks, id)).verdict] as const),
  );
  return Object.fromEntries(found);
}

const swapOn = 'Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1048572 0 -2\n';
const listed =
  'ip_local_reserved_ports\ntcp_keepalive_time\ntcp_keepalive_intvl\ntcp_keepalive_probes\ntcp_fin_timeout\ntcp_syncookies\n';

test('versions are compared by number', () => {
  assert.equal(isAtLeast('6.10.0-rc1', '6.9'), true);
  assert.equal(isAtLeast('5.4.0-150-generic', '5.13'), false);
  assert.equal(isAtLeast('4.5', '4.5'), true);
  assert.equal(isAtLeast('4', '4.0.0'), true);
  assert.equal(isAtLeast('unknown', '1'), undefined);
});

describe('the kernel table', () => {
  test('a kernel of today has everything, by its version where nothing can be tried', async () => {
    assert.deepEqual(await verdicts({}), {
      'sysctl-reserved-ports': 'ok',
      'sysctl-tcp-keepalive': 'ok',
      'sysctl-tcp-fin-timeout': 'ok',
      'sysctl-tcp-syncookies': 'ok',
      'sysctl-ipvs-conn-reuse': 'not-applicable',
      nftables: 'not-applicable',
      'recursive-read-only-mounts': 'ok',
      'pod-user-namespaces': 'ok',
      'tmpfs-noswap': 'ok',
      swap: 'ok',
    });
  });

  test('an old kernel lacks what came later, and says so as far as it can be known', async () => {
    const kernel = '4.4.0';
    const programs = { 'nft --version': { output: 'nftables v0.9.8 (E.D.S.)\n' } };
    assert.deepEqual(await verdicts({ kernel, programs, files: { 'proc/swaps': swapOn } }), {
      'sysctl-reserved-ports': 'ok',
      'sysctl-tcp-keepalive': 'unknown',
      'sysctl-tcp-fin-timeout': 'unknown',
      'sysctl-tcp-syncookies': 'unknown',
      'sysctl-ipvs-conn-reuse': 'not-applicable',
      nftables: 'warning',
      'recursive-read-only-mounts': 'unknown',
      'pod-user-namespaces': 'warning',
      'tmpfs-noswap': 'unknown',
      swap: 'warning',
    });
  });

  test('an old kernel with everything backported has everything: what was tried counts', async () => {
    const programs = {
      'unshare --net ls': { output: listed },
      'unshare --mount': {},
      'grep -qE': {},
      'nft --version': { output: 'nftables v1.0.6 (Lester Gooch #5)\n' },
    };
    const files = { 'proc/sys/net/ipv4/vs/conn_reuse_mode': '1\n', 'proc/swaps': swapOn };
    const found = await verdicts(
      { kernel: '4.4.0', programs, files },
      {
        recursiveReadOnly: false,
        userNamespaces: true,
      },
    );
    const others = Object.entries(found).filter(([, verdict]) => verdict !== 'ok');
    assert.deepEqual(others, [
      ['nftables', 'warning'],
      ['swap', 'warning'],
    ]);
  });

  test('a kernel of today without the feature lacks it: what was tried counts here too', async () => {
    const programs = {
      'unshare --net ls': { output: listed.replace('tcp_fin_timeout\n', '') },
      'unshare --mount': { code: 32, output: 'mount: /sys: wrong fs type, bad option, bad superblock' },
    };
    const found = await verdicts({ programs, files: { 'proc/swaps': swapOn } });
    const old = await verdicts({ kernel: '5.10.0', programs: { 'grep -qE': { code: 1 } } });
    assert.equal(old['recursive-read-only-mounts'], 'warning');
    assert.equal(found['sysctl-tcp-fin-timeout'], 'warning');
    assert.equal(found['sysctl-tcp-keepalive'], 'ok');
    assert.equal(found['tmpfs-noswap'], 'warning');
  });

  test('a mount that is not permitted proves nothing', async () => {
    const programs = { 'unshare --mount': { code: 1, output: 'unshare: Operation not permitted' } };
    assert.equal((await verdicts({ programs }))['tmpfs-noswap'], 'ok');
  });

  test('user namespaces that are switched off', async () => {
    const none = await verdicts({ files: { 'proc/sys/user/max_user_namespaces': '0\n' } });
    assert.equal(none['pod-user-namespaces'], 'warning');
    const unknown = await verdicts({ files: { 'proc/self/ns/user': undefined } });
    assert.equal(unknown['pod-user-namespaces'], 'warning');
  });

  test('nft of today with a kernel between 5.4 and 5.13, and ipvs without its sysctl', async () => {
    const programs = { 'nft --version': { output: 'nftables v1.0.6 (Lester Gooch #5)\n' } };
    const files = { 'proc/sys/net/ipv4/vs/expire_nodest_conn': '0\n' };
    const found = await verdicts({ kernel: '5.10.0-28-amd64', programs, files });
    assert.equal(found['nftables'], 'warning');
    assert.equal(found['sysctl-ipvs-conn-reuse'], 'warning');
    assert.equal((await verdicts({ kernel: '5.15.0', programs }))['nftables'], 'ok');
  });

  test('swap in memory alone reaches no disk', async () => {
    const files = { 'proc/swaps': swapOn.replace('/dev/sda2', '/dev/zram0') };
    assert.equal((await verdicts({ kernel: '5.10.0', files }))['swap'], 'ok');
  });
});
