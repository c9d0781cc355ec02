import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import {
  podOf,
  toContainerView,
  toListedContainerView,
  toSandboxView,
} from '../../../../../src/agent/pods/view/convert.ts';
import {
  ContainerSchema,
  ContainerState,
  ContainerStatusSchema,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatusSchema,
} from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { containerStatus, labelsOf, sandboxStatus } from './fake-calls.ts';

const id = 'a'.repeat(64);
const digest = `docker.io/library/busybox@sha256:${'b'.repeat(64)}`;

describe('a sandbox', () => {
  const network = { ip: '10.0.0.1', additionalIps: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }, { ip: '' }] };
  const made = (mode: NamespaceMode, state: PodSandboxState) =>
    toSandboxView(
      create(PodSandboxStatusSchema, {
        id: 's',
        state,
        network,
        linux: { namespaces: { options: { network: mode } } },
      }),
    );

  test('has its addresses, the additional ones too', () => {
    assert.deepEqual(made(NamespaceMode.POD, PodSandboxState.SANDBOX_READY).ips, ['10.0.0.1', 'fd00::1']);
  });

  test('has none with the network of the host, and when it has ended', () => {
    const onHost = made(NamespaceMode.NODE, PodSandboxState.SANDBOX_READY);
    assert.deepEqual([onHost.network, onHost.ips], ['host', []]);
    assert.deepEqual(made(NamespaceMode.POD, PodSandboxState.SANDBOX_NOTREADY).ips, []);
  });

  test('without a network status, and of an attempt', () => {
    const view = toSandboxView(sandboxStatus('s', 'u', { network: undefined }));
    assert.deepEqual([view.ips, view.attempt, view.createdMs, view.isReady], [[], 0, 1, true]);
  });
});

describe('a container', () => {
  test('its image is the one that the pod names', () => {
    const cases: [Parameters<typeof containerStatus>[2], string, string, string][] = [
      [{ imageRef: digest, imageId: `sha256:${id}` }, 'busybox', digest, `sha256:${id}`],
      [{ imageRef: '', imageId: `sha256:${id}` }, 'busybox', `sha256:${id}`, `sha256:${id}`],
      [{ imageRef: `sha256:${id}`, imageId: '' }, 'busybox', `sha256:${id}`, `sha256:${id}`],
      [{ imageRef: digest, imageId: '' }, 'busybox', digest, ''],
      [{ imageRef: '', imageId: '' }, 'busybox', 'busybox', ''],
    ];
    for (const [changes, image, imageRef, imageId] of cases) {
      const view = toContainerView(containerStatus('c', 'u', changes), 's');
      assert.deepEqual([view.image, view.imageRef, view.imageId], [image, imageRef, imageId]);
    }
    const byId = create(ContainerStatusSchema, {
      image: { image: `sha256:${id}`, userSpecifiedImage: 'busybox:1' },
      imageRef: digest,
    });
    const view = toContainerView(byId, 's');
    assert.deepEqual([view.image, view.imageId], ['busybox:1', `sha256:${id}`]);
  });

  test('times are milliseconds, and absent where there is none', () => {
    const view = toContainerView(
      containerStatus('c', 'u', { startedAt: 0n, finishedAt: -6795364578871345152n }),
      's',
    );
    assert.deepEqual([view.createdMs, view.startedMs, view.finishedMs], [2, undefined, undefined]);
  });

  test('user, resources and mounts are taken over, and absent where the runtime says nothing', () => {
    const bare = toContainerView(containerStatus('c', 'u'), 's');
    assert.deepEqual([bare.user, bare.resources, bare.mounts], [undefined, undefined, []]);
    const full = toContainerView(
      create(ContainerStatusSchema, {
        user: { linux: { uid: 1000n, gid: 7n, supplementalGroups: [7n, 9n] } },
        resources: {
          linux: { cpuPeriod: 100_000n, cpuQuota: 50_000n, cpuShares: 512n, memoryLimitInBytes: 1n },
        },
        mounts: [{ containerPath: '/data', hostPath: '/x', readonly: true, recursiveReadOnly: true }],
      }),
      's',
    );
    assert.deepEqual(full.user, { uid: 1000, gid: 7, supplementalGroups: [7, 9] });
    assert.deepEqual(full.resources, {
      cpuPeriod: 100_000,
      cpuQuota: 50_000,
      cpuShares: 512,
      memoryLimitBytes: 1,
    });
    assert.deepEqual(full.mounts, [
      { containerPath: '/data', hostPath: '/x', isReadOnly: true, isRecursiveReadOnly: true },
    ]);
  });

  test('its stop signal has a name, where the runtime says one', () => {
    const cases: [number, string | undefined][] = [
      [0, undefined],
      [1, 'SIGABRT'],
      [23, 'SIGTERM'],
      [65, 'SIGRTMAX'],
      [66, undefined],
      [-1, undefined],
    ];
    for (const [stopSignal, name] of cases)
      assert.equal(toContainerView(create(ContainerStatusSchema, { stopSignal }), 's').stopSignal, name);
  });

  test('of a list alone: one that has ended is not known to have ended well', () => {
    const states = [
      ContainerState.CONTAINER_CREATED,
      ContainerState.CONTAINER_RUNNING,
      ContainerState.CONTAINER_EXITED,
      ContainerState.CONTAINER_UNKNOWN,
    ].map((state) => toListedContainerView(create(ContainerSchema, { id: 'c', state }), 'why').state);
    assert.deepEqual(states, ['created', 'running', 'unknown', 'unknown']);
  });
});

describe('the pod of a sandbox or container', () => {
  test('is named by its labels, else by the sandbox itself', () => {
    const { 'io.kubernetes.pod.uid': uid } = labelsOf('u');
    assert.deepEqual(podOf(containerStatus('c', 'u')), { uid: 'u', namespace: 'default', name: 'name-u' });
    const bare = sandboxStatus('s', 'u', { labels: { 'io.kubernetes.pod.uid': uid } });
    assert.deepEqual(podOf(bare), { uid: 'u', namespace: 'default', name: 'name-u' });
    assert.equal(podOf(sandboxStatus('s', 'u', { labels: {} })), undefined);
    assert.equal(podOf(sandboxStatus('s', 'u', { labels: { 'io.kubernetes.pod.uid': '' } })), undefined);
  });
});
