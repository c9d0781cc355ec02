import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Case } from './input.ts';
import {
  conditionOf,
  container,
  containerOf,
  exited,
  exitRecord,
  finishedAt,
  running,
  startedAt,
  statusOf,
  wait,
} from './input.ts';

/* The rule RestartAllContainers, in the words of the reference. */

const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
const asking = container('a', { restartPolicy: 'Never', restartPolicyRules });
const spec = { restartPolicy: 'Never', containers: [asking, container('b')] };
const restarting = wait('RestartingAllContainers', 'container a exited with code 42');
const restartsAll = {
  plan: { stage: 'running', steps: [], waits: new Map(), imagesWanted: [], restartsAll: restarting },
} as const;
const type = 'AllContainersRestarting';
const removed = 'The container is removed because RestartAllContainers in place';
const removal = (id: string) => ({
  ...{ exitCode: 137, reason: 'RestartingAllContainers', message: removed },
  ...{ startedAt, finishedAt, containerID: `containerd://${id}` },
});
const history = (name: string, exitCode: number) => ({
  [name]: {
    made: { attempt: 3, restartCount: 2 },
    lastExit: { ...exitRecord(name, 3, exitCode), isHistory: true },
  },
});
const bothRemoved: Case = {
  spec,
  record: { containers: { ...history('a', 42), ...history('b', 0) } },
  sandbox: {},
};

describe('the restart of all containers', () => {
  test('is a condition while it goes on', () => {
    const given = { spec, containers: [exited('a', 42), running('b')], more: restartsAll };
    assert.partialDeepStrictEqual(conditionOf(given, type), {
      status: 'True',
      reason: 'RestartAllContainersStarted',
      message: 'container exited with restart policy rule',
    });
  });

  test('is said to be over when all are removed, and of a pod that has ended', () => {
    const cases: [Case, string | undefined][] = [
      [bothRemoved, undefined],
      [{ spec, containers: [exited('a', 0), exited('b', 0)] }, 'PodCompleted'],
      [{ spec, containers: [exited('a', 1), exited('b', 0)] }, 'PodFailed'],
    ];
    for (const [given, reason] of cases) {
      const { status, reason: said } = conditionOf(given, type) ?? {};
      assert.deepEqual([status, said], ['False', reason]);
    }
  });

  test('is no condition of pods without such a rule', () => {
    assert.equal(conditionOf({ containers: [running('c')], more: restartsAll }, type), undefined);
  });

  test('leaves what has ended as it is until it is removed', () => {
    const waits = { a: restarting, b: restarting };
    const given = { spec, containers: [exited('a', 42, 3), exited('b', 0)], waits };
    const record = { containers: history('a', 42) };
    for (const each of [given, { ...given, record }])
      assert.equal(containerOf(each, 'a')?.state?.terminated?.exitCode, 42);
  });

  test('is why those wait that were removed, however they ended, and one restart more of each', () => {
    const given = { ...bothRemoved, waits: { a: restarting, b: restarting } };
    for (const name of ['a', 'b']) {
      assert.partialDeepStrictEqual(containerOf(given, name), {
        state: { waiting: { reason: 'RestartingAllContainers', message: removed } },
        lastState: { terminated: removal(`${name}-3`) },
        restartCount: 2,
      });
    }
  });

  test('is the last state of those that run again', () => {
    const given = { ...bothRemoved, containers: [running('a', 4), running('b', 4)] };
    for (const name of ['a', 'b'])
      assert.deepEqual(containerOf(given, name)?.lastState, { terminated: removal(`${name}-3`) });
  });

  test('is no reason of a container that has not run yet', () => {
    const waiting = containerOf({ spec, waits: { a: restarting, b: restarting } }, 'b')?.state?.waiting;
    assert.equal(waiting?.reason, 'ContainerCreating');
  });

  test('ends no pod, though none of its containers would be started again', () => {
    for (const waits of [
      { a: restarting, b: restarting },
      { a: wait('CrashLoopBackOff'), b: wait('') },
    ])
      assert.equal(statusOf({ ...bothRemoved, waits }).phase, 'Running');
    const init = { ...spec, initContainers: [container('i')] };
    const given = { spec: init, sandbox: {}, record: { containers: history('i', 0) } };
    assert.equal(statusOf(given).phase, 'Pending');
  });

  test('takes back the end of a container that its policy would not start again', () => {
    const terminated = { exitCode: 0, reason: 'Completed', containerID: 'containerd://b-3' };
    const known = { name: 'b', ready: false, restartCount: 2, image: 'b:1', imageID: 'x' };
    const before = { phase: 'Running', containerStatuses: [{ ...known, state: { terminated } }] };
    const given = { ...bothRemoved, before, containers: [running('a', 4), running('b', 4)] };
    assert.notEqual(containerOf(given, 'b')?.state?.running, undefined);
  });
});
