import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerInput } from '../../../../src/agent/containers/index.ts';
import {
  ContainerConfigError,
  containerConfig,
  sandboxConfig,
} from '../../../../src/agent/containers/index.ts';
import type { ContainerSpec, Spec } from './sample.ts';
import { containerInput, node, samplePod, sandboxInput } from './sample.ts';

type OfPod = NonNullable<Spec['securityContext']>;
type Own = NonNullable<ContainerSpec['securityContext']>;

function contextOf(ofPod: OfPod, own: Own, changes: Partial<ContainerInput> = {}) {
  const pod = samplePod({ securityContext: ofPod }, { securityContext: own });
  return containerConfig(containerInput(pod, changes)).linux?.securityContext;
}

const image = (user: { uid?: number; username?: string }) => ({ image: { id: 'sha256:1', user } });

describe('the user of a container', () => {
  const cases: [
    name: string,
    ofPod: OfPod,
    own: Own,
    user: { uid?: number; username?: string },
    expected: object,
  ][] = [
    ['is root where nothing says otherwise', {}, {}, {}, { runAsUser: { value: 0n }, runAsUsername: '' }],
    ['is the image’s', {}, {}, { uid: 5 }, { runAsUser: { value: 5n }, runAsUsername: '' }],
    ['is the image’s by name', {}, {}, { username: 'web' }, { runAsUsername: 'web' }],
    ['is the pod’s', { runAsUser: 7 }, {}, { uid: 5 }, { runAsUser: { value: 7n } }],
    ['is the pod’s root, too', { runAsUser: 0 }, {}, { uid: 5 }, { runAsUser: { value: 0n } }],
    ['is its own', { runAsUser: 7 }, { runAsUser: 8 }, { username: 'web' }, { runAsUser: { value: 8n } }],
    [
      'has the group of the pod',
      { runAsGroup: 9 },
      {},
      {},
      { runAsUser: { value: 0n }, runAsUsername: '', runAsGroup: { value: 9n } },
    ],
    [
      'has its own group',
      { runAsUser: 7, runAsGroup: 9 },
      { runAsGroup: 10 },
      {},
      { runAsUser: { value: 7n }, runAsGroup: { value: 10n } },
    ],
  ];
  for (const [name, ofPod, own, user, expected] of cases) {
    test(name, () => {
      const found = contextOf(ofPod, own, image(user));
      const { runAsUser, runAsUsername, runAsGroup } = found ?? assert.fail('no rights');
      const given = Object.entries({ runAsUser, runAsUsername, runAsGroup });
      assert.deepEqual(Object.fromEntries(given.filter(([, value]) => value !== undefined)), expected);
    });
  }
});

describe('runAsNonRoot', () => {
  const where = '(pod: "web_shop(7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11)", container: c)';
  const asked = { runAsNonRoot: true };
  const refusals: [
    name: string,
    ofPod: OfPod,
    own: Own,
    user: { uid?: number; username?: string },
    message: string,
  ][] = [
    ['root by the image', asked, {}, { uid: 0 }, 'container has runAsNonRoot and image will run as root'],
    ['root by default', asked, {}, {}, 'container has runAsNonRoot and image will run as root'],
    [
      'root by the pod',
      { ...asked, runAsUser: 0 },
      {},
      { uid: 5 },
      "container's runAsUser breaks non-root policy",
    ],
    [
      'root by its own',
      { runAsUser: 7 },
      { ...asked, runAsUser: 0 },
      {},
      "container's runAsUser breaks non-root policy",
    ],
    [
      'a name',
      {},
      asked,
      { username: 'web' },
      'container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root',
    ],
    [
      'an impossible number',
      asked,
      {},
      { uid: 2 ** 31 },
      'container has runAsNonRoot and image has an invalid user id (2147483648). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive',
    ],
  ];
  for (const [name, ofPod, own, user, message] of refusals) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => contextOf(ofPod, own, image(user)),
        (error: unknown) =>
          error instanceof ContainerConfigError &&
          error.reason === 'CreateContainerConfigError' &&
          error.message === `${message} ${where}`,
      );
    });
  }

  test('accepts any other user, and the container may lift what its pod asks for', () => {
    assert.ok(contextOf(asked, {}, image({ uid: 5 })));
    assert.ok(contextOf(asked, { runAsUser: 7 }, image({ username: 'web' })));
    assert.ok(contextOf(asked, { runAsNonRoot: false }, image({ uid: 0 })));
  });
});

describe('the rights of a container', () => {
  const masked = contextOf({}, {})?.maskedPaths ?? [];
  const cases: [name: string, ofPod: OfPod, own: Own, expected: object][] = [
    ['privileged', {}, { privileged: true }, { privileged: true, maskedPaths: masked }],
    ['a root that cannot be written', {}, { readOnlyRootFilesystem: true }, { readonlyRootfs: true }],
    ['no more rights later', {}, { allowPrivilegeEscalation: false }, { noNewPrivs: true }],
    ['more rights later', {}, { allowPrivilegeEscalation: true }, { noNewPrivs: false }],
    ['the whole of /proc', {}, { procMount: 'Unmasked' }, { maskedPaths: [], readonlyPaths: [] }],
    ['/proc by default', {}, { procMount: 'Default' }, { maskedPaths: masked }],
    [
      'capabilities',
      {},
      { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
      { capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] } },
    ],
    [
      'the label of the pod',
      { seLinuxOptions: { level: 's0:c1' } },
      {},
      { selinuxOptions: { user: '', role: '', type: '', level: 's0:c1' } },
    ],
    [
      'its own label',
      { seLinuxOptions: { level: 's0:c1' } },
      { seLinuxOptions: { type: 't', user: 'u', role: 'r', level: 'l' } },
      { selinuxOptions: { user: 'u', role: 'r', type: 't', level: 'l' } },
    ],
    [
      'groups, the one of the volumes first, each once',
      { fsGroup: 2000, supplementalGroups: [7, 2000, 9] },
      {},
      { supplementalGroups: [2000n, 7n, 9n], supplementalGroupsPolicy: 0 },
    ],
    [
      'only the groups of the pod',
      { supplementalGroupsPolicy: 'Strict' },
      {},
      { supplementalGroupsPolicy: 1 },
    ],
  ];
  for (const [name, ofPod, own, expected] of cases) {
    test(name, () => {
      const found = { ...contextOf(ofPod, own) };
      assert.deepEqual({ ...found, ...expected }, found);
    });
  }

  test('groups of volumes, profiles, and paths of this machine are taken as given', () => {
    const found = contextOf(
      {},
      {},
      {
        volumeGroups: [1234],
        seccomp: { profileType: 2, localhostRef: '/profiles/web.json' },
        appArmor: { profileType: 2, localhostRef: 'web' },
        node: { ...node, maskedPaths: ['/sys/x'] },
      },
    );
    assert.deepEqual(found?.supplementalGroups, [1234n]);
    assert.deepEqual(found?.seccomp, { profileType: 2, localhostRef: '/profiles/web.json' });
    assert.deepEqual(found?.apparmor, { profileType: 2, localhostRef: 'web' });
    assert.equal(found?.maskedPaths?.at(-1), '/sys/x');
  });

  test('AppArmor is not mentioned where the node has none', () => {
    assert.equal('apparmor' in { ...contextOf({}, {}) }, false);
  });
});

describe('namespaces', () => {
  const none = { mode: 2, uids: [], gids: [] };
  const own = { network: 0, pid: 1, ipc: 0, usernsOptions: none };
  const userIds = { hostId: 65_536, length: 65_536 };
  const mappings = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const cases: [name: string, spec: Partial<Spec>, expected: object][] = [
    ['of its own', {}, own],
    ['the network of the host', { hostNetwork: true }, { ...own, network: 2 }],
    ['the processes of the host', { hostPID: true, shareProcessNamespace: true }, { ...own, pid: 2 }],
    ['processes that are shared', { shareProcessNamespace: true }, { ...own, pid: 0 }],
    ['ipc of the host', { hostIPC: true }, { ...own, ipc: 2 }],
    [
      'users of its own',
      { hostUsers: false },
      { ...own, usernsOptions: { mode: 0, uids: mappings, gids: mappings } },
    ],
    ['users of the host', { hostUsers: true }, own],
  ];
  for (const [name, spec, expected] of cases) {
    test(`${name}, for sandbox and container alike`, () => {
      const pod = samplePod(spec);
      const sandbox = sandboxConfig(sandboxInput(pod, { userIds })).config;
      const container = containerConfig(containerInput(pod, { userIds }));
      assert.deepEqual(sandbox.linux?.securityContext?.namespaceOptions, expected);
      assert.deepEqual(container.linux?.securityContext?.namespaceOptions, expected);
    });
  }

  test('without ids for its users a pod is refused rather than run with those of the host', () => {
    const message = /no range of ids was set apart/;
    const pod = samplePod({ hostUsers: false });
    assert.throws(() => sandboxConfig(sandboxInput(pod)), message);
    assert.throws(() => containerConfig(containerInput(pod)), message);
  });

  test('a debug container sees the processes of its target, unless they are all shared', () => {
    const ephemeralContainers = [{ name: 'debug', image: 'i', targetContainerName: 'c' }];
    const optionsOf = (spec: Partial<Spec>) => {
      const input = containerInput(samplePod({ ...spec, ephemeralContainers }), {
        container: 'debug',
        targetId: 'abc',
      });
      return containerConfig(input).linux?.securityContext?.namespaceOptions;
    };
    assert.deepEqual(optionsOf({}), { ...own, pid: 3, targetId: 'abc' });
    assert.deepEqual(optionsOf({ shareProcessNamespace: true }), { ...own, pid: 0 });
  });
});

describe('the rights of a sandbox', () => {
  const sandboxOf = (spec: Partial<Spec>, container: Partial<ContainerSpec> = {}) =>
    sandboxConfig(sandboxInput(samplePod(spec, container))).config.linux;

  test('are those of the pod, with a group only beside a user', () => {
    const group = sandboxOf({ securityContext: { runAsGroup: 7 } })?.securityContext;
    assert.equal('runAsGroup' in { ...group }, false);
    const both = sandboxOf({ securityContext: { runAsGroup: 7, runAsUser: 0 } })?.securityContext;
    assert.deepEqual([both?.runAsUser, both?.runAsGroup], [{ value: 0n }, { value: 7n }]);
  });

  test('are privileged when a container of any sort is', () => {
    const privileged = { name: 'p', image: 'i', securityContext: { privileged: true } };
    assert.equal(sandboxOf({})?.securityContext?.privileged, false);
    assert.equal(sandboxOf({}, { securityContext: { privileged: true } })?.securityContext?.privileged, true);
    assert.equal(sandboxOf({ initContainers: [privileged] })?.securityContext?.privileged, true);
    assert.equal(sandboxOf({ ephemeralContainers: [privileged] })?.securityContext?.privileged, true);
  });

  test('have the runtime’s seccomp profile whatever the pod says', () => {
    const seccompProfile = { type: 'Unconfined' };
    const found = sandboxOf({ securityContext: { seccompProfile } })?.securityContext;
    assert.deepEqual(found?.seccomp, { profileType: 0, localhostRef: '' });
  });

  test('sysctls: the pod’s over those of the node, which need namespaces of the pod', () => {
    const defaultSysctls = { 'net.ipv4.ip_unprivileged_port_start': '0', 'kernel.shm_rmid_forced': '1' };
    const sysctls = (spec: Partial<Spec>) =>
      sandboxConfig(sandboxInput(samplePod(spec), { node: { ...node, defaultSysctls } })).config.linux
        ?.sysctls;
    const own = [
      { name: 'kernel.shm_rmid_forced', value: '0' },
      { name: 'net/ipv4/conf/eth0.1/rp_filter', value: '2' },
    ];
    assert.deepEqual(sysctls({}), defaultSysctls);
    assert.deepEqual(sysctls({ hostNetwork: true }), { 'kernel.shm_rmid_forced': '1' });
    assert.deepEqual(sysctls({ hostNetwork: true, hostIPC: true }), {});
    assert.deepEqual(sysctls({ securityContext: { sysctls: own } }), {
      'net.ipv4.ip_unprivileged_port_start': '0',
      'kernel.shm_rmid_forced': '0',
      'net.ipv4.conf.eth0/1.rp_filter': '2',
    });
  });

  test('ports of containers and sidecars, not of other init containers', () => {
    const initContainers = [
      {
        name: 's',
        image: 'i',
        restartPolicy: 'Always',
        ports: [{ containerPort: 53, protocol: 'UDP', hostPort: 53 }],
      },
      { name: 'i', image: 'i', ports: [{ containerPort: 1 }] },
    ];
    const ports = [
      { containerPort: 80 },
      { containerPort: 9, protocol: 'SCTP', hostIP: '192.0.2.1', hostPort: 9 },
    ];
    const { config } = sandboxConfig(sandboxInput(samplePod({ initContainers }, { ports })));
    assert.deepEqual(config.portMappings, [
      { protocol: 1, containerPort: 53, hostPort: 53, hostIp: '' },
      { protocol: 0, containerPort: 80, hostPort: 0, hostIp: '' },
      { protocol: 2, containerPort: 9, hostPort: 9, hostIp: '192.0.2.1' },
    ]);
  });
});
