import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LoadedConfig } from '../../../../src/agent/config/index.ts';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { configFiles } from './config-files.ts';

async function load(text: string): Promise<LoadedConfig & { folder: string }> {
  await using folder = await configFiles({ 'c.yaml': text });
  const loaded = await loadConfig({ config: join(folder.path, 'c.yaml'), flags: {} });
  return { ...loaded, folder: folder.path };
}

describe('how pods run', () => {
  test('by default as in the reference', async () => {
    const { config, warnings } = await load('');
    assert.deepEqual(warnings, []);
    assert.deepEqual(config.pods, {
      clusterDomain: '',
      clusterDns: [],
      resolvConf: '/etc/resolv.conf',
      podCidrs: [],
      allowedUnsafeSysctls: [],
      defaultSysctls: {},
      cgroups: { root: '/', driver: 'cgroupfs' },
      refuses: { swap: false, cgroupV1: false },
      killsSingleProcess: false,
      cpuQuota: { isEnforced: true, periodUs: 100_000 },
      maxPids: undefined,
      maxRestartWaitMs: 300_000,
      volumeLookMs: 60_000,
      podsPerCore: undefined,
      idsPerPod: 65_536,
      url: undefined,
    });
  });

  test('as a file says', async () => {
    const { config, folder, warnings } = await load(
      [
        'clusterDomain: cluster.local',
        'clusterDNS: [10.96.0.10, "fd00::a"]',
        'resolvConf: resolv.conf',
        'podCIDR: 10.1.0.0/24,fd01::/64',
        'allowedUnsafeSysctls: [kernel.msg*, net/ipv4/conf/eth0.1/forwarding]',
        'defaultPodSysctls: {net.ipv4.ip_unprivileged_port_start: "0"}',
        'cgroupRoot: /nodes',
        'cgroupDriver: systemd',
        'failSwapOn: true',
        'failCgroupV1: true',
        'singleProcessOOMKill: true',
        'cpuCFSQuota: false',
        'cpuCFSQuotaPeriod: 5ms',
        'podPidsLimit: 500',
        'crashLoopBackOff: {maxContainerRestartPeriod: 30s}',
        'syncFrequency: 5s',
        'podsPerCore: 10',
        'userNamespaces: {idsPerPod: 131072}',
        'staticPodURL: https://pods.example.com/node.yaml',
        'staticPodURLHeader: {Authorization: [Bearer abc]}',
        'httpCheckFrequency: 5s',
      ].join('\n'),
    );
    assert.deepEqual(warnings, []);
    assert.deepEqual(config.pods, {
      clusterDomain: 'cluster.local',
      clusterDns: ['10.96.0.10', 'fd00::a'],
      resolvConf: join(folder, 'resolv.conf'),
      podCidrs: ['10.1.0.0/24', 'fd01::/64'],
      allowedUnsafeSysctls: ['kernel.msg*', 'net/ipv4/conf/eth0.1/forwarding'],
      defaultSysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' },
      cgroups: { root: '/nodes', driver: 'systemd' },
      refuses: { swap: true, cgroupV1: true },
      killsSingleProcess: true,
      cpuQuota: { isEnforced: false, periodUs: 5000 },
      maxPids: 500,
      maxRestartWaitMs: 30_000,
      volumeLookMs: 5000,
      podsPerCore: 10,
      idsPerPod: 131_072,
      url: {
        url: 'https://pods.example.com/node.yaml',
        headers: { Authorization: ['Bearer abc'] },
        intervalMs: 5000,
      },
    });
  });

  test('an empty resolvConf means none; zeros mean the default', async () => {
    const { config } = await load(
      'resolvConf: ""\nhttpCheckFrequency: 0s\npodPidsLimit: 0\npodsPerCore: 0\n',
    );
    assert.equal(config.pods.resolvConf, '');
    assert.equal(config.pods.maxPids, undefined);
    assert.equal(config.pods.podsPerCore, undefined);
    assert.ok(Object.isFrozen(config.pods));
  });

  test('headers are never printed', async () => {
    const { printable } = await load('staticPodURLHeader: {Authorization: [hush]}');
    assert.doesNotMatch(JSON.stringify(printable), /hush/);
  });
});

describe('what makes no sense is refused', () => {
  const cases: Record<string, RegExp> = {
    'clusterDomain: Cluster_Local': /clusterDomain: "Cluster_Local" is not a DNS name/,
    'clusterDNS: [10.96.0.10, dns]': /clusterDNS: "dns" is not an IP address/,
    'podCIDR: 10.1.0.0': /podCIDR: "10\.1\.0\.0" is no range of addresses/,
    'podCIDR: 10.1.0.0/33': /is no range of addresses/,
    'allowedUnsafeSysctls: [vm.swappiness]': /"vm\.swappiness" is not known to be separate for each pod/,
    'allowedUnsafeSysctls: ["*"]': /is not known to be separate/,
    'allowedUnsafeSysctls: ["net..core"]': /is not the name of a kernel parameter/,
    'defaultPodSysctls: {vm.swappiness: "1"}': /is no kernel parameter that is separate/,
    'defaultPodSysctls: {net.core.*: "1"}': /is no kernel parameter that is separate/,
    'cgroupRoot: nodes': /cgroupRoot: "nodes" is no absolute path/,
    'cgroupDriver: openrc': /is not one of cgroupfs, systemd/,
    'cpuCFSQuotaPeriod: 2s': /must be from 1ms to 1s, not 2s/,
    'podPidsLimit: -2': /must be from -1 to 4194304/,
    'crashLoopBackOff: {maxContainerRestartPeriod: 10m}': /must be from 1s to 300s, not 10m/,
    'podsPerCore: -1': /must be from 0 to/,
    'userNamespaces: {idsPerPod: 65537}': /must be a multiple of 65536, not 65537/,
    'userNamespaces: {idsPerPod: -65536}': /must be a multiple of 65536, not -65536/,
    'staticPodURL: ftp://pods.example.com/': /must be an http or https URL$/,
    'staticPodURL: https://me:hush@pods.example.com/': /must not have a user or password in it/,
    'staticPodURLHeader: {"a b": [c]}': /is no name of a header/,
    'staticPodURLHeader: {a: ["b\\nc"]}': /must be printable text/,
    'httpCheckFrequency: 1ms': /must be from 100ms to 24h/,
  };
  for (const [line, expected] of Object.entries(cases))
    test(line, async () => {
      await assert.rejects(load(line), (error: Error) => {
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      });
    });
});
