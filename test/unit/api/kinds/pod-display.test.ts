import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { podKind } from '../../../../src/api/index.ts';

const now = Date.parse('2024-05-01T12:00:00Z');

/** The row of a pod, by the names of the columns. */
function row(pod: Pod): Record<string, unknown> {
  return Object.fromEntries(podKind.columns.map((column) => [column.name, column.value(pod, now)]));
}

type Status = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

function container(name: string, state: object, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, state, ready: false, restartCount: 0, image: 'i', imageID: '', ...more };
}

const running = (name: string, more: Partial<ContainerStatus> = {}) =>
  container(name, { running: {} }, { ready: true, started: true, ...more });
const waiting = (name: string, reason: string, more: Partial<ContainerStatus> = {}) =>
  container(name, { waiting: { reason } }, more);
const ended = (name: string, terminated: object, more: Partial<ContainerStatus> = {}) =>
  container(name, { terminated: { exitCode: 0, ...terminated } }, more);

function shown(status: Status, more: { init?: object[]; metadata?: Pod['metadata'] } = {}) {
  const names = ['a', 'b'].map((name) => ({ name, image: 'i' }));
  const initContainers = (more.init ?? []).map((entry) => ({ name: 'i', image: 'i', ...entry }));
  const pod: Pod = { metadata: more.metadata ?? {}, spec: { containers: names, initContainers }, status };
  const { Ready, Status: state, Restarts } = row(pod);
  return `${Ready} ${state} ${Restarts}`;
}

describe('the table of pods', () => {
  test('has the columns that its users know', () => {
    const names = (priority: number) =>
      podKind.columns.filter((column) => column.priority === priority).map(({ name }) => name);
    assert.deepEqual(names(0), ['Ready', 'Status', 'Restarts', 'Age']);
    assert.deepEqual(names(1), ['IP', 'Node', 'Nominated Node', 'Readiness Gates']);
  });

  test('tells where a pod is', () => {
    const pod: Pod = {
      metadata: { creationTimestamp: '2024-05-01T11:55:00Z' },
      spec: {
        containers: [],
        nodeName: 'n1',
        readinessGates: [{ conditionType: 'x/a' }, { conditionType: 'x/b' }],
      },
      status: {
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }],
        conditions: [{ type: 'x/a', status: 'True' }],
      },
    };
    const { Age, IP, Node, ...more } = row(pod);
    assert.deepEqual(
      [Age, IP, Node, more['Nominated Node'], more['Readiness Gates']],
      ['5m', '10.0.0.1', 'n1', '<none>', '1/2'],
    );
    const none = row({});
    assert.deepEqual([none['IP'], none['Node'], none['Readiness Gates']], ['<none>', '<none>', '<none>']);
  });
});

describe('the state of a pod', () => {
  test('is its phase while nothing else is known', () => {
    assert.equal(shown({ phase: 'Pending' }), '0/2 Pending 0');
    assert.equal(shown({ phase: 'Failed', reason: 'Evicted' }), '0/2 Evicted 0');
  });

  test('is that of its containers', () => {
    assert.equal(
      shown({ phase: 'Running', containerStatuses: [running('a'), running('b')] }),
      '2/2 Running 0',
    );
    assert.equal(
      shown({
        phase: 'Pending',
        containerStatuses: [waiting('a', 'ContainerCreating'), waiting('b', 'ImagePullBackOff')],
      }),
      '0/2 ContainerCreating 0',
      'the first that has something to say says it',
    );
    assert.equal(
      shown({
        phase: 'Running',
        containerStatuses: [running('a'), waiting('b', 'CrashLoopBackOff', { restartCount: 4 })],
      }),
      '1/2 CrashLoopBackOff 4',
    );
    const done = [ended('a', { reason: 'Completed' }), ended('b', { reason: 'Completed' })];
    assert.equal(shown({ phase: 'Succeeded', containerStatuses: done }), '0/2 Completed 0');
  });

  test('is how they ended, where nobody says why', () => {
    const status = (...containerStatuses: ContainerStatus[]) => shown({ phase: 'Failed', containerStatuses });
    assert.equal(status(ended('a', { exitCode: 3 })), '0/2 ExitCode:3 0');
    assert.equal(status(ended('a', { exitCode: 137, signal: 9 })), '0/2 Signal:9 0');
    assert.equal(status(ended('a', { exitCode: 1, reason: 'Error' })), '0/2 Error 0');
  });

  test('is still running when one of them is done', () => {
    const containerStatuses = [ended('a', { reason: 'Completed' }), running('b')];
    assert.equal(shown({ phase: 'Running', containerStatuses }), '1/2 NotReady 0');
    const conditions = [{ type: 'Ready', status: 'True' }];
    assert.equal(shown({ phase: 'Running', containerStatuses, conditions }), '1/2 Running 0');
  });

  test('tells when a container was last started again', () => {
    const lastState = { terminated: { exitCode: 1, finishedAt: '2024-05-01T11:57:00Z' } };
    const containerStatuses = [
      running('a', { restartCount: 2, lastState }),
      running('b', { restartCount: 1 }),
    ];
    assert.equal(shown({ phase: 'Running', containerStatuses }), '2/2 Running 3 (3m ago)');
  });

  test('is the progress of the init containers before', () => {
    const init = [{ name: 'i' }, { name: 'j' }];
    const status = (...initContainerStatuses: ContainerStatus[]) =>
      shown({ phase: 'Pending', initContainerStatuses }, { init });
    assert.equal(status(ended('i', {}), container('j', { running: {} })), '0/2 Init:1/2 0');
    assert.equal(status(waiting('i', 'PodInitializing')), '0/2 Init:0/2 0');
    assert.equal(status(waiting('i', 'ImagePullBackOff')), '0/2 Init:ImagePullBackOff 0');
    assert.equal(
      status(ended('i', { exitCode: 1, reason: 'Error' }, { restartCount: 2 })),
      '0/2 Init:Error 2',
    );
    assert.equal(status(ended('i', { exitCode: 2 })), '0/2 Init:ExitCode:2 0');
    assert.equal(status(ended('i', { exitCode: 2, signal: 15 })), '0/2 Init:Signal:15 0');
  });

  test('counts those that go on beside the others', () => {
    const init = [{ name: 'i', restartPolicy: 'Always' }, { name: 'j' }];
    const status: Status = {
      phase: 'Running',
      initContainerStatuses: [running('i', { restartCount: 1 }), ended('j', {}, { restartCount: 5 })],
      containerStatuses: [running('a'), running('b', { restartCount: 2 })],
    };
    assert.equal(shown(status, { init }), '3/3 Running 3', 'what has gone by counts no more');
  });

  test('is going when its deletion is asked for, unless it has ended', () => {
    const metadata = { deletionTimestamp: '2024-05-01T12:00:00Z' };
    const containerStatuses = [running('a'), running('b')];
    assert.equal(shown({ phase: 'Running', containerStatuses }, { metadata }), '2/2 Terminating 0');
    assert.equal(shown({ phase: 'Running', reason: 'NodeLost' }, { metadata }), '0/2 Unknown 0');
    assert.equal(shown({ phase: 'Succeeded' }, { metadata }), '0/2 Succeeded 0');
  });
});

test('pods are selected by where they are and how they run', () => {
  const pod: Pod = {
    spec: {
      containers: [],
      nodeName: 'n',
      restartPolicy: 'Never',
      schedulerName: 's',
      serviceAccountName: 'x',
      hostNetwork: true,
    },
    status: { phase: 'Running', podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }], nominatedNodeName: 'm' },
  };
  assert.deepEqual(Object.fromEntries(podKind.selectable.map(({ path, value }) => [path, value(pod)])), {
    'spec.nodeName': 'n',
    'spec.restartPolicy': 'Never',
    'spec.schedulerName': 's',
    'spec.serviceAccountName': 'x',
    'spec.hostNetwork': 'true',
    'status.phase': 'Running',
    'status.podIP': '1.2.3.4',
    'status.nominatedNodeName': 'm',
  });
  assert.equal(podKind.selectable.find(({ path }) => path === 'spec.hostNetwork')?.value({}), 'false');
});
