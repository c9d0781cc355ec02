import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { kubeletConfiguration } from '../../../../src/agent/config/fields.ts';
import type { LoadedConfig } from '../../../../src/agent/config/index.ts';
import { ConfigError, loadConfig } from '../../../../src/agent/config/index.ts';
import { toShare } from '../../../../src/agent/node/index.ts';
import { configFiles } from './config-files.ts';

async function load(text: string): Promise<LoadedConfig> {
  await using folder = await configFiles({ 'c.yaml': text });
  return await loadConfig({ config: join(folder.path, 'c.yaml'), flags: {} });
}

/** The warnings, with the line alone. */
async function warningsOf(text: string): Promise<string[]> {
  const { warnings } = await load(text);
  return warnings.map((warning) => warning.replace(/^.*c\.yaml:/, ''));
}

async function problemsOf(text: string): Promise<string[]> {
  await using folder = await configFiles({ 'c.yaml': text });
  const loading = loadConfig({ config: join(folder.path, 'c.yaml'), flags: {} });
  const error: unknown = await loading.then(
    () => assert.fail('it was accepted'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ConfigError, String(error));
  return error.message.replaceAll(`${folder.path}/c.yaml:`, '').split('\n');
}

describe('fields that count', () => {
  test('thresholds: amounts, percentages, and what is off', async () => {
    const text = 'evictionHard: {memory.available: 1Gi, nodefs.available: 12.5%, pid.available: 0%}';
    const { config, printable } = await load(text);
    assert.deepEqual(config.eviction.hard, {
      'memory.available': { amount: 2 ** 30, text: '1Gi' },
      'nodefs.available': toShare(12.5),
    });
    assert.deepEqual(Object.keys(Object(printable['evictionHard'])).sort(), [
      'memory.available',
      'nodefs.available',
      'pid.available',
    ]);
  });

  test('who states some thresholds keeps the other defaults only when asked to', async () => {
    const merged = 'mergeDefaultEvictionSettings: true\nevictionHard: {memory.available: 200Mi}';
    const { config } = await load(merged);
    assert.deepEqual(config.eviction.hard['memory.available'], { amount: 200 * 2 ** 20, text: '200Mi' });
    assert.deepEqual(config.eviction.hard['nodefs.available'], toShare(10));
    const { config: alone } = await load('evictionHard: {memory.available: 200Mi}');
    assert.equal(alone.eviction.hard['nodefs.available'], undefined);
    const { config: none } = await load('evictionHard: {}');
    assert.equal(none.eviction.hard['memory.available'], undefined);
  });

  test('soft thresholds, what is to be reclaimed, and for how long a pressure stays', async () => {
    const { config } = await load(
      [
        'evictionSoft: {memory.available: 1Gi, imagefs.available: 20%}',
        'evictionSoftGracePeriod: {memory.available: 1m30s, imagefs.available: 5m}',
        'evictionMinimumReclaim: {nodefs.available: 500Mi, imagefs.available: "0"}',
        'evictionPressureTransitionPeriod: 30s',
      ].join('\n'),
    );
    const { soft, softGraceMs, reclaim, transitionMs } = config.eviction;
    assert.deepEqual(soft, {
      'memory.available': { amount: 2 ** 30, text: '1Gi' },
      'imagefs.available': toShare(20),
    });
    assert.deepEqual(softGraceMs, { 'memory.available': 90_000, 'imagefs.available': 300_000 });
    assert.deepEqual(reclaim, { 'nodefs.available': { amount: 500 * 2 ** 20, text: '500Mi' } });
    assert.equal(transitionMs, 30_000);
    const { config: plain } = await load('evictionPressureTransitionPeriod: 0s');
    assert.equal(plain.eviction.transitionMs, 300_000);
  });

  test('how long an evicted pod gets, and whether limits of local storage count', async () => {
    const read = async (text: string) => {
      const { maxPodGraceSeconds, limitsStorage } = (await load(text)).config.eviction;
      return [maxPodGraceSeconds, limitsStorage];
    };
    assert.deepEqual(await read('maxPods: 1'), [0, true]);
    const other = 'evictionMaxPodGracePeriod: 45\nlocalStorageCapacityIsolation: false';
    assert.deepEqual(await read(other), [45, false]);
    assert.deepEqual(await read('evictionMaxPodGracePeriod: -1'), [-1, true]);
    assert.deepEqual(await read('evictionHard: {allocatableMemory.available: 50Mi}'), [0, true]);
  });

  test('images: none is a number of its own, and their service may be another', async () => {
    const maxImages = async (text: string) => (await load(text)).config.nodeStatusMaxImages;
    assert.deepEqual([await maxImages('maxPods: 1'), await maxImages('nodeStatusMaxImages: 0')], [50, 0]);
    assert.equal(await maxImages('nodeStatusMaxImages: -1'), -1);
    assert.deepEqual(await warningsOf('nodeStatusMaxImages: 0'), []);
    const { config } = await load('imageServiceEndpoint: /run/images.sock');
    assert.equal(config.imageServiceEndpoint, 'unix:///run/images.sock');
  });

  test('what is reserved is added up', async () => {
    const { config } = await load(
      'systemReserved: {cpu: 500m, memory: 1Gi, pid: "100"}\nkubeReserved: {cpu: "1", ephemeral-storage: 2Gi, pid: "20"}',
    );
    const [memoryBytes, storageBytes] = [2 ** 30, 2 ** 31];
    assert.deepEqual(config.reserved, { cpuMillis: 1500, memoryBytes, storageBytes, pids: 120 });
  });

  test('taints, providerID, authorization', async () => {
    const { config } = await load(
      'registerWithTaints: [{key: a/b, effect: NoExecute}, {key: c, value: d, effect: NoSchedule}]\nproviderID: x://y\nauthorization: {mode: AlwaysAllow}',
    );
    assert.deepEqual(config.registerWithTaints, [
      { key: 'a/b', effect: 'NoExecute' },
      { key: 'c', value: 'd', effect: 'NoSchedule' },
    ]);
    assert.equal(config.providerID, 'x://y');
    assert.equal(config.server.access.alwaysAllow, true);
    assert.equal((await load('authorization: {mode: ""}')).config.server.access.alwaysAllow, false);
    const standalone = await loadConfig({ flags: {}, standalone: true });
    assert.equal(standalone.config.server.access.alwaysAllow, true);
    assert.equal(standalone.config.server.access.tokens, false);
  });

  test('a relative path counts from the folder of its file', async () => {
    await using folder = await configFiles({
      'c.yaml': 'tlsCertFile: tls/a.crt\ntlsPrivateKeyFile: /b.key',
      'd/x.conf': 'authentication: {x509: {clientCAFile: ca.crt}}',
    });
    const [config, configDir] = [join(folder.path, 'c.yaml'), join(folder.path, 'd')];
    assert.deepEqual((await loadConfig({ config, configDir, flags: {} })).config.files, {
      tlsCertFile: join(folder.path, 'tls/a.crt'),
      tlsPrivateKeyFile: '/b.key',
      clientCAFile: join(folder.path, 'd/ca.crt'),
    });
  });

  test('values that make no sense', async () => {
    const cases: Record<string, RegExp> = {
      'evictionHard: {memory.avail: 1Gi}':
        /^3:16: evictionHard\.memory\.avail: is not one of memory\.available, /,
      'evictionHard: {memory.available: 101%}': /^3:34: .*an amount above 0, such as 100Mi, or a percentage/,
      'evictionHard: {memory.available: "-1Gi"}': /an amount above 0/,
      'evictionHard: {memory.available: "0"}': /an amount above 0/,
      'evictionHard: {memory.available: -1%}': /an amount above 0/,
      'evictionHard: {memory.available: 5}': /expected a string, found number 5/,
      'evictionSoft: {memory.available: 1Gi}':
        /^3:16: evictionSoft\.memory\.available: needs evictionSoftGracePeriod\.memory\.available beside it$/,
      'evictionSoftGracePeriod: {memory.available: soon}':
        /must be a duration above 0, such as 90s, not "soon"/,
      'evictionMinimumReclaim: {memory.available: -1Gi}': /must be an amount, such as 500Mi, or a percentage/,
      'evictionPressureTransitionPeriod: -1s': /must be from 0s to 576h/,
      'nodeStatusMaxImages: -2': /must be from -1 to 1000000/,
      'imageServiceEndpoint: http://x': /is not supported; use unix:\/\/\/absolute\/path/,
      'shutdownGracePeriod: 500ms': /shutdownGracePeriod: must be 0s or at least 1s, not 500ms/,
      'shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 20s':
        /shutdownGracePeriodCriticalPods: must be at most shutdownGracePeriod, 10s, not 20s/,
      'shutdownGracePeriodByPodPriority: [{priority: 5}, {priority: 5}]':
        /shutdownGracePeriodByPodPriority\[1\]: has the priority of one before, 5/,
      'shutdownGracePeriodByPodPriority: [{priority: 5, shutdownGracePeriodSeconds: -1}]':
        /\[0\]\.shutdownGracePeriodSeconds: must be from 0 to 2073600, not -1/,
      'shutdownGracePeriod: 5s\nshutdownGracePeriodByPodPriority: [{priority: 5, shutdownGracePeriodSeconds: 1}]':
        /shutdownGracePeriodByPodPriority: cannot be beside shutdownGracePeriod: leave out one of the two/,
      'systemReserved: {memory: lots}': /must be a quantity from 0 on, not "lots"/,
      'kubeReserved: {memory: "-1"}': /must be a quantity from 0 on/,
      'kubeReserved: {gpu: "1"}': /kubeReserved\.gpu: is not one of cpu, memory, ephemeral-storage, pid/,
      'authorization: {mode: RBAC}': /authorization\.mode: "RBAC" is not one of AlwaysAllow, Webhook/,
      'authorization: {webhook: {cacheAuthorizedTTL: -5m}}': /must be from 0s to 576h/,
      'authorization: {webook: {}}': /^3:17: authorization\.webook: unknown field$/,
      'registerWithTaints: [{key: a, effect: Never}]': /\[0\]\.effect: must be one of NoSchedule/,
      'registerWithTaints: [{key: "a b", effect: NoSchedule}]': /registerWithTaints\[0\]\.key: /,
      'registerWithTaints: [{key: a, effect: NoExecute}, {key: a, effect: NoExecute}]': /\[1\]: has the key/,
      'tlsCertFile: /a.crt': /^3:1: tlsCertFile: needs tlsPrivateKeyFile beside it$/,
      'tlsPrivateKeyFile: /a.key': /needs tlsCertFile beside it/,
      'clusterDNS: 10.0.0.1': /^3:13: clusterDNS: expected a list, found string "10\.0\.0\.1"$/,
      'logging: {verbosity: high}': /logging\.verbosity: expected a 32-bit integer/,
      'staticPodURLHeader: {a: b}': /expected a list/,
    };
    for (const [line, expected] of Object.entries(cases)) {
      const told = await problemsOf(line);
      assert.equal(told.length, 1, `${line}: ${told.join(' | ')}`);
      assert.match(told[0] ?? '', expected);
    }
  });
});

/** Of KubeletConfiguration in kubelet.config.k8s.io/v1beta1, release 1.37. */
const namesOfTheReference = `
  enableServer staticPodPath podLogsDir syncFrequency fileCheckFrequency httpCheckFrequency staticPodURL
  staticPodURLHeader address port readOnlyPort tlsCertFile tlsPrivateKeyFile tlsCipherSuites tlsCurvePreferences
  tlsMinVersion rotateCertificates serverTLSBootstrap authentication authorization registryPullQPS registryBurst
  imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist eventRecordQPS eventBurst
  enableDebuggingHandlers enableContentionProfiling healthzPort healthzBindAddress oomScoreAdj clusterDomain clusterDNS
  streamingConnectionIdleTimeout nodeStatusUpdateFrequency nodeStatusReportFrequency nodeLeaseDurationSeconds
  imageMinimumGCAge imageMaximumGCAge imageGCHighThresholdPercent imageGCLowThresholdPercent volumeStatsAggPeriod
  kubeletCgroups systemCgroups cgroupRoot cgroupsPerQOS cgroupDriver cpuManagerPolicy singleProcessOOMKill
  cpuManagerPolicyOptions cpuManagerReconcilePeriod memoryManagerPolicy topologyManagerPolicy topologyManagerScope
  topologyManagerPolicyOptions qosReserved runtimeRequestTimeout hairpinMode maxPods podCIDR podPidsLimit resolvConf
  runOnce cpuCFSQuota cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles contentType kubeAPIQPS kubeAPIBurst
  serializeImagePulls maxParallelImagePulls evictionHard evictionSoft evictionSoftGracePeriod
  evictionPressureTransitionPeriod evictionMaxPodGracePeriod evictionMinimumReclaim mergeDefaultEvictionSettings
  podsPerCore enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains iptablesMasqueradeBit
  iptablesDropBit featureGates failSwapOn memorySwap containerLogMaxSize containerLogMaxFiles containerLogMaxWorkers
  containerLogMonitorInterval configMapAndSecretChangeDetectionStrategy systemReserved kubeReserved reservedSystemCPUs
  showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup enforceNodeAllocatable allowedUnsafeSysctls
  defaultPodSysctls volumePluginDir providerID kernelMemcgNotification logging enableSystemLogHandler
  enableSystemLogQuery shutdownGracePeriod shutdownGracePeriodCriticalPods shutdownGracePeriodByPodPriority
  crashLoopBackOff reservedMemory enableProfilingHandler enableDebugFlagsHandler seccompDefault memoryThrottlingFactor
  memoryReservationPolicy registerWithTaints registerNode tracing localStorageCapacityIsolation
  containerRuntimeEndpoint imageServiceEndpoint failCgroupV1 userNamespaces`;

describe('fields without effect', () => {
  test('every field of the reference is known, and our own field and two sections', () => {
    const names = namesOfTheReference.trim().split(/\s+/);
    assert.deepEqual(
      Object.keys(kubeletConfiguration.fields).sort(),
      [...names, 'apiVersion', 'kind', 'checkpoint', 'deviceManager'].sort(),
    );
  });

  test('are told where they stand, and why', async () => {
    const text = [
      'eventRecordQPS: 9',
      'kubeAPIQPS: 7',
      'authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 8m, cacheUnauthorizedTTL: 45s}}',
      'logging: {format: json, options: {json: {infoBufferSize: "0"}}}',
      'authentication: {anonymous: {enabled: true}}',
      'featureGates: {WatchList: true}',
    ];
    assert.deepEqual((await warningsOf(text.join('\n'))).sort(), [
      '3: eventRecordQPS has no effect here: Events that repeat are counted up, and limited by the object that they are about',
      '4: kubeAPIQPS has no effect here: the agent sends what has changed and nothing else, in the form that the server has',
      '6: logging has no effect here: use --log-format and --verbose',
      '8: featureGates.WatchList has no effect here: it is of the control plane; use --feature-gates',
    ]);
  });

  test('that ask for what is done anyway need no warning', async () => {
    const text = [
      ...['readOnlyPort: 0', 'rotateCertificates: true', 'enableDebuggingHandlers: false'],
      ...['memorySwap: {swapBehavior: NoSwap}', 'cgroupsPerQOS: true'],
    ].join('\n');
    assert.deepEqual(await warningsOf(text), []);
    for (const other of [
      'enableDebuggingHandlers: true',
      'memorySwap: {swapBehavior: LimitedSwap}',
      'cgroupsPerQOS: false',
    ])
      assert.equal((await warningsOf(other)).length, 1, other);
  });
});
