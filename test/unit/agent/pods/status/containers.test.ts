import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import type { Case } from './input.ts';
import {
  container,
  containerOf,
  created,
  exited,
  exitRecord,
  finishedAt,
  lostView,
  running,
  startedAt,
  statusOf,
  wait,
} from './input.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

const init = { initContainers: [container('i')] };
const never = { restartPolicy: 'Never' };
const lostText =
  'The container could not be located when the pod was deleted.  The container used to be Running';
const lostAtEnd = 'The container could not be located when the pod was terminated';

const known = (more: Partial<ContainerStatus>): ContainerStatus => ({
  ...{
    name: 'c',
    ready: false,
    restartCount: 0,
    image: 'c:1',
    imageID: 'x',
    containerID: 'containerd://c-0',
  },
  ...more,
});
const before = (more: Partial<ContainerStatus>): PodStatus => ({
  phase: 'Running',
  containerStatuses: [known(more)],
});
const ended = (exitCode: number, id = 'c-0') => ({
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  startedAt,
  finishedAt,
  containerID: `containerd://${id}`,
});

/** What is given, and what the status of the container `c` has. */
const states: readonly (readonly [what: string, given: Case, status: object])[] = [
  [
    'nothing yet',
    {},
    {
      state: { waiting: { reason: 'ContainerCreating' } },
      ready: false,
      started: false,
      restartCount: 0,
      image: 'c:1',
      imageID: '',
      containerID: '',
    },
  ],
  [
    'nothing yet, after init containers',
    { spec: init },
    { state: { waiting: { reason: 'PodInitializing' } } },
  ],
  [
    'why the pod waits',
    { wait: wait('FailedMount', 'secret "db" not found') },
    { state: { waiting: { reason: 'ContainerCreating', message: 'secret "db" not found' } } },
  ],
  [
    'why the container waits',
    { waits: { c: wait('ErrImagePull', 'not found') } },
    { state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } },
  ],
  [
    'a why without a reason',
    { waits: { c: wait('', 'waits for container a') } },
    { state: { waiting: { reason: 'ContainerCreating', message: 'waits for container a' } } },
  ],
  [
    'it is created',
    { containers: [created('c')] },
    { state: { waiting: { reason: 'ContainerCreating' } }, containerID: 'containerd://c-0' },
  ],
  [
    'it runs',
    { containers: [running('c')] },
    {
      state: { running: { startedAt } },
      ready: true,
      started: true,
      image: 'c:1',
      imageID: 'registry.test/c@sha256:abc',
    },
  ],
  [
    'it runs, and a wait is still there',
    { containers: [running('c')], waits: { c: wait('CrashLoopBackOff') } },
    { state: { running: { startedAt } } },
  ],
  [
    'it has an image without a digest',
    { containers: [running('c', 0, { imageRef: '' })] },
    { imageID: 'sha256:abc' },
  ],
  [
    'it has ended',
    { containers: [exited('c', 3)] },
    { state: { terminated: ended(3) }, ready: false, started: false },
  ],
  [
    'it left a message',
    { containers: [exited('c', 3)], more: { messages: new Map([['c-0', 'no config']]) } },
    { state: { terminated: { ...ended(3), message: 'no config' } } },
  ],
  [
    'it left a message, and the runtime too',
    {
      containers: [exited('c', 128, 0, { reason: 'StartError', message: 'exec failed' })],
      more: { messages: new Map([['c-0', 'bye']]) },
    },
    { state: { terminated: { exitCode: 128, reason: 'StartError', message: 'exec failed: bye' } } },
  ],
  [
    'it has ended, and waits for its restart',
    { containers: [exited('c', 1)], waits: { c: wait('CrashLoopBackOff', 'back-off 10s') } },
    {
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      lastState: { terminated: ended(1) },
    },
  ],
  [
    'it has ended, and only its turn is to come',
    { containers: [exited('c', 1)], waits: { c: wait('ContainerCreating') } },
    { state: { terminated: ended(1) } },
  ],
  [
    'it has ended for good, whatever waits',
    { spec: never, containers: [exited('c', 1)], waits: { c: wait('CrashLoopBackOff') } },
    { state: { terminated: ended(1) } },
  ],
  [
    'it was started again',
    { containers: [running('c', 1), exited('c', 1)] },
    { state: { running: { startedAt } }, lastState: { terminated: ended(1) }, restartCount: 1 },
  ],
  [
    'a count in the annotation',
    { containers: [running('c', 1, { annotations: { 'io.kubernetes.container.restartCount': '7' } })] },
    { restartCount: 7 },
  ],
  [
    'a count in the annotation that is none',
    { containers: [running('c', 4, { annotations: { 'io.kubernetes.container.restartCount': '-1' } })] },
    { restartCount: 4 },
  ],
  [
    'the one before is in the record alone',
    { containers: [running('c', 2)], record: { containers: { c: { lastExit: exitRecord('c', 1, 9) } } } },
    { lastState: { terminated: ended(9, 'c-1') }, restartCount: 2 },
  ],
  [
    'the record has the present one',
    { containers: [exited('c', 9, 1)], record: { containers: { c: { lastExit: exitRecord('c', 1, 9) } } } },
    { state: { terminated: ended(9, 'c-1') } },
  ],
  [
    'the one before stands in the status alone',
    { containers: [running('c', 1)], before: before({ state: { terminated: ended(5) } }) },
    { lastState: { terminated: ended(5) } },
  ],
  [
    'the one before ran when it was looked at last',
    { containers: [running('c', 1)], before: before({ state: { running: {} } }) },
    { lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostText } } },
  ],
  [
    'its lastState stays',
    {
      containers: [running('c', 1)],
      before: before({
        containerID: 'containerd://c-1',
        state: { running: {} },
        lastState: { terminated: ended(5) },
      }),
    },
    { lastState: { terminated: ended(5) } },
  ],
  [
    'it ran, and is gone',
    { before: before({ state: { running: {} } }) },
    {
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostText } },
      restartCount: 0,
    },
  ],
  [
    'it ran, and is gone, in a pod that is deleted',
    { metadata: { deletionTimestamp: startedAt }, before: before({ state: { running: {} } }) },
    { restartCount: 0 },
  ],
  [
    'it has ended, and is gone',
    { before: before({ state: { terminated: ended(4) }, restartCount: 2 }) },
    { state: { terminated: ended(4) }, restartCount: 2 },
  ],
  [
    'it is gone, and the record has its end',
    {
      before: before({ state: { running: {} } }),
      record: { containers: { c: { lastExit: exitRecord('c', 2, 1) } } },
    },
    { state: { terminated: ended(1, 'c-2') }, restartCount: 2 },
  ],
  [
    'it is lost, with its end',
    { more: { lost: new Map([['c', exitRecord('c', 3, 0)]]) } },
    { state: { terminated: ended(0, 'c-3') }, restartCount: 3 },
  ],
  [
    'it is forgotten after failed tries, which are no restarts',
    {
      record: {
        containers: {
          c: { attempt: 7, made: { attempt: 5, restartCount: 2 }, lastExit: exitRecord('c', 5, 1) },
        },
      },
    },
    { state: { terminated: ended(1, 'c-5') }, restartCount: 2 },
  ],
  [
    'it is lost, without its end',
    { more: { lost: new Map([['c', undefined]]) } },
    { lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } },
  ],
  [
    'the runtime does not know what it does',
    { containers: [lostView('c')] },
    { state: { waiting: { reason: 'ContainerCreating' } } },
  ],
  [
    'it has ended, and how has not been read yet',
    {
      containers: [{ ...lostView('c'), isUnread: true }],
      before: before({ containerID: `containerd://${lostView('c').id}`, state: { running: {} } }),
    },
    { state: { running: {} }, restartCount: 0 },
  ],
  [
    'the runtime does not know what became of one that ran',
    { containers: [lostView('c')], before: before({ state: { running: {} } }) },
    {
      state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostAtEnd } },
      restartCount: 0,
    },
  ],
  [
    'it has ended since it ran last, how is not read yet, and neither is the end of the one before it',
    {
      containers: [
        { ...lostView('c', 1), isUnread: true },
        { ...lostView('c'), isUnread: true },
      ],
      before: before({ containerID: 'containerd://c-0', state: { running: {} } }),
    },
    { containerID: 'containerd://c-0', state: { running: {} }, restartCount: 0 },
  ],
  [
    'it was made, and another ran before it',
    { containers: [created('c', 1), exited('c', 1)], before: before({ state: { terminated: ended(1) } }) },
    { state: { waiting: { reason: 'ContainerCreating' } }, restartCount: 0 },
  ],
  [
    'it was made, and only the record knows of the one before it',
    {
      containers: [created('c', 5)],
      record: { containers: { c: { made: { attempt: 4, restartCount: 2 } } } },
      before: before({ restartCount: 1 }),
    },
    { restartCount: 2 },
  ],
  [
    'it was made, and what ran before it is said to be lost',
    { containers: [created('c', 3)], before: before({ restartCount: 3 }) },
    { restartCount: 3 },
  ],
  ['it was made, and nothing is known of others', { containers: [created('c', 3)] }, { restartCount: 3 }],
  [
    'it ran, and is gone, and the record has only the end of an older one',
    {
      record: {
        containers: {
          c: { made: { attempt: 6, restartCount: 2 }, lastExit: exitRecord('c', 5, 1) },
        },
      },
      before: before({
        containerID: 'containerd://c-6',
        restartCount: 2,
        state: { running: {} },
        lastState: { terminated: ended(1, 'c-5') },
      }),
    },
    {
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: { terminated: ended(1, 'c-5') },
      restartCount: 2,
    },
  ],
  [
    'it ran, and is gone, and the runtime still has the one before it',
    {
      record: { containers: { c: { made: { attempt: 1, restartCount: 1 } } } },
      containers: [exited('c', 1)],
      before: before({ containerID: 'containerd://c-1', restartCount: 1, state: { running: {} } }),
    },
    {
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      restartCount: 1,
    },
  ],
  [
    'Never: it ran, and is gone',
    {
      spec: never,
      record: { containers: { c: { made: { attempt: 0, restartCount: 0 } } } },
      before: before({ containerID: 'containerd://c-0', state: { running: {} } }),
    },
    {
      state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostText } },
      restartCount: 0,
    },
  ],
  [
    'OnFailure: it ran, and is gone',
    {
      spec: { restartPolicy: 'OnFailure' },
      record: { containers: { c: { made: { attempt: 0, restartCount: 0 } } } },
      before: before({ containerID: 'containerd://c-0', state: { running: {} } }),
    },
    { state: { waiting: { reason: 'ContainerCreating' } }, restartCount: 0 },
  ],
  [
    'it had ended, and is removed before the one before it',
    {
      stage: 'terminating',
      record: { containers: { c: { made: { attempt: 1, restartCount: 1 } } } },
      containers: [exited('c', 1)],
      before: before({
        containerID: 'containerd://c-1',
        restartCount: 1,
        state: { terminated: ended(0, 'c-1') },
      }),
    },
    { containerID: 'containerd://c-1', state: { terminated: ended(0, 'c-1') }, restartCount: 1 },
  ],
  [
    'Never: it had ended, and another runs',
    { spec: never, before: before({ state: { terminated: ended(0) } }), containers: [running('c', 1)] },
    { state: { terminated: ended(0) } },
  ],
  [
    'OnFailure: it had succeeded, and waits',
    {
      spec: { restartPolicy: 'OnFailure' },
      before: before({ state: { terminated: ended(0) } }),
      containers: [created('c', 1)],
    },
    { state: { terminated: ended(0) } },
  ],
  [
    'OnFailure: it had failed, and another runs',
    {
      spec: { restartPolicy: 'OnFailure' },
      before: before({ state: { terminated: ended(1) } }),
      containers: [running('c', 1)],
    },
    { state: { running: { startedAt } } },
  ],
  [
    'Always: it had succeeded, and another runs',
    { before: before({ state: { terminated: ended(0) } }), containers: [running('c', 1)] },
    { state: { running: { startedAt } } },
  ],
  [
    'the pod is over and it never ran',
    { stage: 'ended' },
    { state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostAtEnd } } },
  ],
  [
    'the pod is over before it was initialized',
    { stage: 'ended', spec: init, containers: [exited('i', 1)] },
    { state: { waiting: { reason: 'PodInitializing' } } },
  ],
  [
    'the pod is over, its last init container is done',
    { stage: 'ended', spec: init, containers: [exited('i', 0)] },
    { state: { terminated: { exitCode: 137 } } },
  ],
];

describe('the status of a container', () => {
  for (const [what, given, expected] of states)
    test(what, () => assert.partialDeepStrictEqual(containerOf(given), expected));

  test('one without a container before it has no lastState', () => {
    assert.equal(containerOf({ containers: [running('c')] })?.lastState, undefined);
    const record = { containers: { c: { lastExit: exitRecord('c', 1, 9) } } };
    assert.equal(containerOf({ containers: [exited('c', 9, 1)], record })?.lastState, undefined);
  });

  test('one before it whose end is not read yet is not lost', () => {
    const given: Case = {
      containers: [running('c', 1), { ...lostView('c'), isUnread: true }],
      before: before({ state: { running: {} } }),
    };
    assert.equal(containerOf(given)?.lastState, undefined);
    assert.equal(containerOf(given)?.restartCount, 1);
  });

  test('regular ones stand by name, init containers by the spec', () => {
    const spec = {
      initContainers: [container('z'), container('y')],
      containers: [container('b'), container('a')],
    };
    const { initContainerStatuses = [], containerStatuses = [] } = statusOf({ spec });
    const names = [...initContainerStatuses, ...containerStatuses].map(({ name }) => name);
    assert.deepEqual(names, ['z', 'y', 'a', 'b']);
  });
});

const startup = { containers: [container('c', { startupProbe: {} })] };
const readiness = { containers: [container('c', { readinessProbe: {} })] };
const sidecar = { initContainers: [container('s', { restartPolicy: 'Always' })] };
const probed = (results: { startup?: boolean; readiness?: boolean }) => ({
  probes: new Map([['c', results]]),
});
const was = before({ state: { running: {} }, ready: true, started: true });

/** What is given, and whether `c` is started and ready. */
const readies: readonly (readonly [
  what: string,
  given: Case,
  name: string,
  started: boolean | undefined,
  ready: boolean,
])[] = [
  ['runs without probes', { containers: [running('c')] }, 'c', true, true],
  ['has not been probed', { spec: readiness, containers: [running('c')] }, 'c', true, false],
  [
    'is ready by its probe',
    { spec: readiness, containers: [running('c')], ...probed({ readiness: true }) },
    'c',
    true,
    true,
  ],
  [
    'is not ready by its probe',
    { spec: readiness, containers: [running('c')], ...probed({ readiness: false }) },
    'c',
    true,
    false,
  ],
  ['starts', { spec: startup, containers: [running('c')] }, 'c', false, false],
  [
    'has started',
    { spec: startup, containers: [running('c')], ...probed({ startup: true }) },
    'c',
    true,
    true,
  ],
  [
    'was ready when the agent began',
    { spec: readiness, containers: [running('c')], before: was },
    'c',
    true,
    true,
  ],
  [
    'was started when the agent began',
    { spec: startup, containers: [running('c')], before: was },
    'c',
    true,
    true,
  ],
  [
    'was ready, and is not by its probe',
    { spec: readiness, containers: [running('c')], before: was, ...probed({ readiness: false }) },
    'c',
    true,
    false,
  ],
  [
    'is another than that which was ready',
    { spec: readiness, containers: [running('c', 1)], before: was },
    'c',
    true,
    false,
  ],
  [
    'was ready, and has ended',
    { spec: readiness, containers: [exited('c', 0)], before: was },
    'c',
    false,
    false,
  ],
  ['is an init container that runs', { spec: init, containers: [running('i')] }, 'i', true, false],
  ['is an init container that is done', { spec: init, containers: [exited('i', 0)] }, 'i', false, true],
  ['is an init container that failed', { spec: init, containers: [exited('i', 1)] }, 'i', false, false],
  ['is a sidecar that runs', { spec: sidecar, containers: [running('s')] }, 's', true, true],
  ['is a sidecar that has ended', { spec: sidecar, containers: [exited('s', 0)] }, 's', false, false],
  [
    'is an ephemeral container',
    { spec: { ephemeralContainers: [container('e')] }, containers: [running('e')] },
    'e',
    undefined,
    false,
  ],
];

test('what holds up the pod as a whole is no reason of its containers', () => {
  for (const reason of ['NetworkNotReady', 'FailedCreatePodSandBox', 'FailedMount']) {
    const waits = { c: wait(reason, 'why') };
    assert.deepEqual(containerOf({ waits })?.state, {
      waiting: { reason: 'ContainerCreating', message: 'why' },
    });
    assert.equal(containerOf({ waits, containers: [exited('c', 1)] })?.state?.terminated?.exitCode, 1);
  }
});

describe('whether a container is started and ready', () => {
  for (const [what, given, name, started, ready] of readies)
    test(`one that ${what}`, () => {
      const status = containerOf(given, name);
      assert.deepEqual([status?.started, status?.ready], [started, ready]);
    });
});

describe('what a container has', () => {
  const requests = { cpu: '250m', memory: '64Mi' };
  const limits = { cpu: '500m', memory: '128Mi' };
  const spec = { containers: [container('c', { resources: { requests, limits } })] };
  const inForce = { cpuPeriod: 100_000, cpuQuota: 50_000, cpuShares: 256, memoryLimitBytes: 128 * 2 ** 20 };

  test('is what its spec says, where the runtime agrees', () => {
    const status = containerOf({ spec, containers: [running('c', 0, { resources: inForce })] });
    assert.deepEqual(status?.resources, { limits, requests });
    assert.deepEqual(status?.allocatedResources, requests);
  });

  test('is what is in force, where the runtime says otherwise', () => {
    const resources = { cpuPeriod: 100_000, cpuQuota: 200_000, cpuShares: 1024, memoryLimitBytes: 1000 };
    const status = containerOf({ spec, containers: [running('c', 0, { resources })] });
    assert.deepEqual(status?.resources, {
      limits: { cpu: '2', memory: '1000' },
      requests: { cpu: '1', memory: '64Mi' },
    });
    const done = containerOf({ spec, containers: [exited('c', 0, 0, { resources })] });
    assert.deepEqual(done?.resources, { limits, requests });
  });

  test('is the health of its devices, also after they were released, of the same container', () => {
    const healthy = [{ name: 'vendor.test/gpu', resources: [{ resourceID: '0', health: 'Healthy' }] }];
    const lost = [{ name: 'vendor.test/gpu', resources: [{ resourceID: '0', health: 'Unhealthy' }] }];
    const said = before({ allocatedResourcesStatus: lost });
    const given = (id: number, health: typeof healthy): Case => ({
      before: said,
      containers: [running('c', id)],
      more: { deviceHealth: (name) => (name === 'c' ? health : []) },
    });
    assert.deepEqual(containerOf(given(0, healthy))?.allocatedResourcesStatus, healthy);
    assert.deepEqual(containerOf(given(0, []))?.allocatedResourcesStatus, lost);
    assert.equal(containerOf(given(1, []))?.allocatedResourcesStatus, undefined);
  });

  test('is the signal that stops it, where the runtime says one', () => {
    const lifecycle = { stopSignal: 'SIGUSR1' };
    const spec = { containers: [container('c', { lifecycle })] };
    const given = { spec, containers: [running('c', 0, { stopSignal: 'SIGUSR1' })] };
    assert.equal(containerOf(given)?.stopSignal, 'SIGUSR1');
    assert.equal(containerOf({ spec, containers: [running('c')] })?.stopSignal, undefined);
  });

  test('is its user and its mounts', () => {
    const volumeMounts = [
      { name: 'a', mountPath: '/a' },
      { name: 'b', mountPath: '/b/', readOnly: true },
      { name: 'd', mountPath: 'd', readOnly: true },
    ];
    const mounts = [
      { containerPath: '/b', hostPath: '', isReadOnly: true, isRecursiveReadOnly: true },
      { containerPath: '/d', hostPath: '', isReadOnly: true, isRecursiveReadOnly: false },
    ];
    const user = { uid: 1000, gid: 7, supplementalGroups: [8] };
    const given = {
      spec: { containers: [container('c', { volumeMounts })] },
      containers: [running('c', 0, { mounts, user })],
    };
    const status = containerOf(given);
    assert.deepEqual(status?.user, { linux: user });
    assert.deepEqual(status?.volumeMounts, [
      { name: 'a', mountPath: '/a' },
      { name: 'b', mountPath: '/b/', readOnly: true, recursiveReadOnly: 'Enabled' },
      { name: 'd', mountPath: 'd', readOnly: true, recursiveReadOnly: 'Disabled' },
    ]);
  });
});
