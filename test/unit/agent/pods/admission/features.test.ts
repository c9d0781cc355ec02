import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { admitPod } from '../../../../../src/agent/pods/admission/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Change } from './support.ts';
import { admit, container, inputOf, podOf, requesting, summaryOf } from './support.ts';

type Case = readonly [what: string, pod: Pod, change: Change, expected: string];

function run(cases: readonly Case[]): void {
  for (const [what, pod, change, expected] of cases)
    test(what, () => assert.equal(summaryOf(admit(pod, change)), expected));
}

const features = inputOf(podOf()).features;

describe('the machine', () => {
  const strict = podOf({ securityContext: { supplementalGroupsPolicy: 'Strict' } });
  const strictText =
    'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node';
  const ownUsers = podOf({ hostUsers: false });
  const classes = { unsafeSysctls: [], handlerOf: (name: string) => ({ fast: 'runc', lost: 'kata' })[name] };
  const localhost = { appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' } };
  const appArmorText = 'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host';
  run([
    ['linux', podOf({ os: { name: 'linux' } }), {}, 'ok'],
    [
      'another system',
      podOf({ os: { name: 'windows' } }),
      {},
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    ['a label of linux', podOf({}, { labels: { 'kubernetes.io/os': 'linux' } }), {}, 'ok'],
    [
      'a label of another',
      podOf({ os: { name: 'windows' } }, { labels: { 'kubernetes.io/os': 'windows' } }),
      {},
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    ['strict groups', strict, {}, 'ok'],
    [
      'strict groups that the runtime does not have',
      strict,
      { features: { ...features, supplementalGroupsPolicy: false } },
      strictText,
    ],
    [
      'or of which it does not say',
      strict,
      { features: { ...features, supplementalGroupsPolicy: undefined } },
      strictText,
    ],
    [
      'merged groups',
      podOf({ securityContext: { supplementalGroupsPolicy: 'Merge' } }),
      { features: { ...features, supplementalGroupsPolicy: false } },
      'ok',
    ],
    [
      'user namespaces that the default handler does not have',
      ownUsers,
      {},
      'PodFeatureUnsupported: RuntimeClass handler "" does not support user namespaces',
    ],
    [
      'user namespaces of another handler',
      podOf({ hostUsers: false, runtimeClassName: 'fast' }),
      { settings: classes },
      'ok',
    ],
    [
      'user namespaces where the runtime lists no handlers',
      ownUsers,
      { features: { ...features, runtimeHandlers: undefined } },
      'ok',
    ],
    ['the users of the node', podOf({ hostUsers: true }), {}, 'ok'],
    ['a class that is known', podOf({ runtimeClassName: 'fast' }), { settings: classes }, 'ok'],
    [
      'a class that is not',
      podOf({ runtimeClassName: 'slow' }),
      { settings: classes },
      'RuntimeClassNotFound: RuntimeClass "slow" not found',
    ],
    [
      'a class of a handler that the runtime does not have',
      podOf({ runtimeClassName: 'lost' }),
      { settings: classes },
      'PodFeatureUnsupported: RuntimeClass handler "kata" not found',
    ],
    ['classes that nobody looks at', podOf({ runtimeClassName: 'slow' }), {}, 'ok'],
    ['a profile of AppArmor', podOf({ securityContext: localhost }), {}, appArmorText],
    [
      'a profile of one container',
      podOf({ containers: [container({}, { securityContext: localhost })] }),
      {},
      appArmorText,
    ],
    [
      'a profile where there is AppArmor',
      podOf({ securityContext: localhost }),
      { features: { ...features, appArmor: { enabled: true } } },
      'ok',
    ],
    [
      'the default profile is left to the runtime',
      podOf({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
      {},
      'ok',
    ],
    [
      'a node that goes down',
      podOf(),
      { node: { isShuttingDown: true } },
      'NodeShutdown: Pod was rejected as the node is shutting down.',
    ],
  ]);

  test('the Node that is not known', () => {
    const admission = admitPod({ ...inputOf(podOf()), node: undefined });
    assert.equal(summaryOf(admission), 'InvalidNodeInfo: Kubelet cannot get node info.');
    assert.equal(
      !admission.admitted && admission.statusMessage,
      'Pod was rejected: Kubelet cannot get node info.',
    );
  });
});

describe('kernel parameters', () => {
  const setting = (...names: string[]) =>
    podOf({ securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } });
  const forbidden = (text: string) => `SysctlForbidden: forbidden sysctl: ${text}`;
  const allowing = (...unsafeSysctls: string[]) => ({ settings: { unsafeSysctls } });
  const ofHost = (name: string, host: object): Pod => {
    const pod = setting(name);
    return podOf({ ...pod.spec, ...host });
  };
  run([
    ['a safe one', setting('net.ipv4.tcp_syncookies', 'kernel.shm_rmid_forced'), {}, 'ok'],
    ['a safe one with slashes', setting('net/ipv4/tcp_syncookies'), {}, 'ok'],
    ['an unsafe one', setting('kernel.msgmax'), {}, forbidden('"kernel.msgmax" not allowlisted')],
    ['an unsafe one that is allowed', setting('kernel.msgmax'), allowing('kernel.msgmax'), 'ok'],
    ['by a pattern', setting('net.core.somaxconn'), allowing('net.core.*'), 'ok'],
    ['by a pattern with slashes', setting('net.core.somaxconn'), allowing('net/core/*'), 'ok'],
    [
      'by no pattern',
      setting('net.core.somaxconn', 'net.ipv6.a'),
      allowing('net.core.*'),
      forbidden('"net.ipv6.a" not allowlisted'),
    ],
    [
      'of an interface with a dot',
      setting('net/ipv4/conf/eth0.1/forwarding'),
      allowing('net/ipv4/conf/eth0.1/*'),
      'ok',
    ],
    [
      'of the network of the node',
      ofHost('net.ipv4.tcp_syncookies', { hostNetwork: true }),
      {},
      forbidden('"net.ipv4.tcp_syncookies" not allowed with host net enabled'),
    ],
    [
      'of the messages of the node',
      ofHost('kernel.shm_rmid_forced', { hostIPC: true }),
      {},
      forbidden('"kernel.shm_rmid_forced" not allowed with host ipc enabled'),
    ],
    [
      'of the messages, with the network of the node',
      ofHost('kernel.shm_rmid_forced', { hostNetwork: true }),
      {},
      'ok',
    ],
    [
      'by a pattern, with the network of the node',
      ofHost('net.core.somaxconn', { hostNetwork: true }),
      allowing('net.core.*'),
      forbidden('"net.core.somaxconn" not allowed with host net enabled'),
    ],
  ]);
});

describe('pressure', () => {
  const underMemory = { node: { pressures: ['MemoryPressure'] as const } };
  const evicted = (...names: string[]) => `Evicted: The node had condition: [${names.join(' ')}]. `;
  const burstable = requesting({ cpu: '10m' });
  const tolerating = podOf({
    tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
  });
  run([
    ['memory: a pod that requests nothing', podOf(), underMemory, evicted('MemoryPressure')],
    ['memory: a pod that requests something', burstable, underMemory, 'ok'],
    ['memory: a pod that tolerates it', tolerating, underMemory, 'ok'],
    ['memory: a static pod', podOf(), { ...underMemory, origin: 'file' }, 'ok'],
    ['memory: a pod of the system', podOf({ priority: 2_000_000_000 }), underMemory, 'ok'],
    [
      'memory: nearly of the system',
      podOf({ priority: 1_999_999_999 }),
      underMemory,
      evicted('MemoryPressure'),
    ],
    [
      'disk: a pod that requests something',
      burstable,
      { node: { pressures: ['DiskPressure'] } },
      evicted('DiskPressure'),
    ],
    [
      'both: one that tolerates memory',
      tolerating,
      { node: { pressures: ['MemoryPressure', 'DiskPressure'] } },
      evicted('MemoryPressure', 'DiskPressure'),
    ],
    ['processes', burstable, { node: { pressures: ['PIDPressure'] } }, evicted('PIDPressure')],
    ['its class as the status says', { ...podOf(), status: { qosClass: 'Burstable' } }, underMemory, 'ok'],
    [
      'limits count as requests',
      podOf({ containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] }),
      underMemory,
      'ok',
    ],
    [
      'pressure is said before all else',
      podOf({ os: { name: 'windows' } }),
      underMemory,
      evicted('MemoryPressure'),
    ],
  ]);
});
