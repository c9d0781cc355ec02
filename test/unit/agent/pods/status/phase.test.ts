import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Case } from './input.ts';
import {
  container,
  created,
  exited,
  exitRecord,
  inputOf,
  lostView,
  running,
  statusOf,
  wait,
} from './input.ts';

const policy = (restartPolicy: string): NonNullable<Case['spec']> => ({ restartPolicy });
const two = { containers: [container('a'), container('b')] };
const init = { initContainers: [container('i')] };
const sidecar = { initContainers: [container('s', { restartPolicy: 'Always' })] };
const deleted: Case = {
  metadata: { deletionTimestamp: '2026-05-01T11:59:00Z' },
  stage: 'terminating',
  record: { termination: { cause: 'deleted', graceSeconds: 30, sinceMs: 0 } },
};
const evicted: Case = {
  stage: 'terminating',
  record: {
    termination: {
      cause: 'failed',
      graceSeconds: 0,
      sinceMs: 0,
      reason: 'Evicted',
      message: 'low on memory',
    },
  },
};
const onlyExit = (exitCodes: number[]) => [
  { action: 'Restart', exitCodes: { operator: 'In', values: exitCodes } },
];

/** What is given, and the phase. */
const phases: readonly (readonly [what: string, given: Case, phase: string])[] = [
  ['nothing is there', {}, 'Pending'],
  ['a sandbox is there', { sandbox: {} }, 'Pending'],
  ['its container is created', { containers: [created('c')] }, 'Pending'],
  ['its container runs', { containers: [running('c')] }, 'Running'],
  ['one runs, one never ran', { spec: two, containers: [running('a')] }, 'Pending'],
  ['both run', { spec: two, containers: [running('a'), running('b')] }, 'Running'],
  [
    'one runs, one has ended for good',
    { spec: { ...two, ...policy('Never') }, containers: [running('a'), exited('b', 1)] },
    'Running',
  ],
  ['Always: it has ended', { containers: [exited('c', 0)] }, 'Running'],
  ['Always: it has failed', { containers: [exited('c', 1)] }, 'Running'],
  [
    'Always: it waits for its restart',
    { containers: [exited('c', 1)], waits: { c: wait('CrashLoopBackOff') } },
    'Running',
  ],
  ['OnFailure: it has succeeded', { spec: policy('OnFailure'), containers: [exited('c', 0)] }, 'Succeeded'],
  ['OnFailure: it has failed', { spec: policy('OnFailure'), containers: [exited('c', 1)] }, 'Running'],
  ['Never: it has succeeded', { spec: policy('Never'), containers: [exited('c', 0)] }, 'Succeeded'],
  ['Never: it has failed', { spec: policy('Never'), containers: [exited('c', 1)] }, 'Failed'],
  [
    'Never: one of two has failed',
    { spec: { ...two, ...policy('Never') }, containers: [exited('a', 0), exited('b', 3)] },
    'Failed',
  ],
  [
    'Never: both have succeeded',
    { spec: { ...two, ...policy('Never') }, containers: [exited('a', 0), exited('b', 0)] },
    'Succeeded',
  ],
  [
    'Never, but a rule restarts it',
    {
      spec: {
        ...policy('Never'),
        containers: [container('c', { restartPolicy: 'Never', restartPolicyRules: onlyExit([42]) })],
      },
      containers: [exited('c', 42)],
    },
    'Running',
  ],
  [
    'Never, and no rule matches',
    {
      spec: {
        ...policy('Never'),
        containers: [container('c', { restartPolicy: 'Never', restartPolicyRules: onlyExit([42]) })],
      },
      containers: [exited('c', 41)],
    },
    'Failed',
  ],
  [
    'Never, and a rule for a code that the runtime made up',
    {
      spec: {
        ...policy('Never'),
        containers: [container('c', { restartPolicy: 'Never', restartPolicyRules: onlyExit([255]) })],
      },
      containers: [exited('c', 255, 0, { reason: 'Unknown' })],
    },
    'Failed',
  ],
  [
    'Always, but its own policy is Never',
    { spec: { containers: [container('c', { restartPolicy: 'Never' })] }, containers: [exited('c', 1)] },
    'Failed',
  ],
  ['an init container is to come', { spec: init }, 'Pending'],
  ['an init container runs', { spec: init, containers: [running('i')] }, 'Pending'],
  ['an init container is done', { spec: init, containers: [exited('i', 0)] }, 'Pending'],
  [
    'an init container has failed, and is tried again',
    { spec: init, containers: [exited('i', 1)] },
    'Pending',
  ],
  [
    'Never: an init container has failed',
    { spec: { ...init, ...policy('Never') }, containers: [exited('i', 1)] },
    'Failed',
  ],
  [
    'OnFailure: an init container has failed',
    { spec: { ...init, ...policy('OnFailure') }, containers: [exited('i', 1)] },
    'Pending',
  ],
  [
    'Never: an init container was killed by memory and exited 0',
    { spec: { ...init, ...policy('Never') }, containers: [exited('i', 0, 0, { reason: 'OOMKilled' })] },
    'Failed',
  ],
  [
    'Never: an init container failed while a sidecar runs',
    {
      spec: { ...policy('Never'), initContainers: [...sidecar.initContainers, ...init.initContainers] },
      containers: [running('s'), exited('i', 1)],
    },
    'Pending',
  ],
  ['initialized, and it runs', { spec: init, containers: [exited('i', 0), running('c')] }, 'Running'],
  [
    'an init container runs again in a new sandbox',
    { spec: init, containers: [running('i', 1), exited('c', 137)] },
    'Pending',
  ],
  ['a sidecar runs, the rest is to come', { spec: sidecar, containers: [running('s')] }, 'Pending'],
  ['a sidecar runs beside it', { spec: sidecar, containers: [running('s'), running('c')] }, 'Running'],
  ['a sidecar has ended, it runs', { spec: sidecar, containers: [exited('s', 1), running('c')] }, 'Running'],
  [
    'a sidecar starts again beside it, its startup probe unheard',
    {
      spec: { initContainers: [container('s', { restartPolicy: 'Always', startupProbe: {} })] },
      containers: [running('s', 1), running('c')],
    },
    'Running',
  ],
  [
    'a sidecar runs still when it has succeeded',
    { spec: { ...sidecar, ...policy('Never') }, containers: [running('s'), exited('c', 0)] },
    'Running',
  ],
  [
    'a sidecar was killed after it succeeded',
    { spec: { ...sidecar, ...policy('Never') }, containers: [exited('s', 137), exited('c', 0)] },
    'Succeeded',
  ],
  ['deleted, and it runs', { ...deleted, containers: [running('c')] }, 'Running'],
  ['deleted, and it has succeeded', { ...deleted, containers: [exited('c', 0)] }, 'Succeeded'],
  ['deleted, and it was killed', { ...deleted, containers: [exited('c', 137)] }, 'Failed'],
  [
    'deleted, and one still runs',
    { ...deleted, spec: two, containers: [exited('a', 0), running('b')] },
    'Running',
  ],
  ['deleted before anything ran', deleted, 'Failed'],
  ['deleted, and a start may still be carried out', { ...deleted, containers: [created('c')] }, 'Pending'],
  ['deleted in its init', { ...deleted, spec: init, containers: [exited('i', 143)] }, 'Failed'],
  ['deleted, and its end is not known', { ...deleted, containers: [lostView('c')] }, 'Pending'],
  [
    'a static pod whose manifest is gone',
    { ...deleted, containers: [exited('c', 0)], more: { origin: 'file' } },
    'Running',
  ],
  [
    'a static pod of policy Never that is done',
    { spec: policy('Never'), containers: [exited('c', 0)], more: { origin: 'file' } },
    'Succeeded',
  ],
  [
    'evicted, and it runs',
    { ...evicted, containers: [running('c')], status: { phase: 'Running' } },
    'Running',
  ],
  ['evicted, and it has ended', { ...evicted, containers: [exited('c', 0)] }, 'Failed'],
  [
    'a start is under way',
    {
      spec: policy('Never'),
      containers: [exited('c', 1)],
      more: {
        underWay: [
          {
            kind: 'start',
            container: 'c',
            type: 'regular',
            sandboxId: 's',
            attempt: 1,
            restartCount: 1,
            imageId: '',
          },
        ],
      },
    },
    'Pending',
  ],
  ['it was Failed by the API', { status: { phase: 'Failed' }, containers: [running('c')] }, 'Failed'],
  [
    'it was Succeeded by the API, and has failed',
    { status: { phase: 'Succeeded' }, spec: policy('Never'), containers: [exited('c', 1)] },
    'Succeeded',
  ],
  [
    'it was Failed by what was computed last',
    { before: { phase: 'Failed' }, status: { phase: 'Running' }, containers: [exited('c', 0)] },
    'Failed',
  ],
  [
    'it ran, and the runtime has lost it',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'c',
            state: { running: {} },
            ready: true,
            restartCount: 0,
            image: 'c:1',
            imageID: '',
            containerID: 'containerd://x',
          },
        ],
      },
    },
    'Running',
  ],
  [
    'Never: its end is in the record alone',
    { spec: policy('Never'), record: { containers: { c: { lastExit: exitRecord('c', 0, 0) } } } },
    'Succeeded',
  ],
];

describe('the phase of a pod', () => {
  for (const [what, given, phase] of phases)
    test(`${phase}: ${what}`, () => assert.equal(statusOf(given).phase, phase));

  test('the same input gives the same status', () => {
    for (const [, given] of phases) assert.deepEqual(statusOf(given), statusOf(given));
  });

  test('computed again from its own result nothing changes', () => {
    for (const [what, given] of phases) {
      const first = statusOf(given);
      const { pod } = inputOf(given);
      const again = statusOf({
        ...given,
        more: { ...given.more, before: first, pod: { ...pod, status: first } },
      });
      assert.deepEqual(again, first, what);
    }
  });
});

describe('reason and message of a pod', () => {
  test('what the node ended says why, once nothing of it runs', () => {
    const { reason, message } = statusOf({ ...evicted, containers: [exited('c', 137)] });
    assert.deepEqual([reason, message], ['Evicted', 'low on memory']);
    assert.equal(statusOf({ ...evicted, containers: [running('c')] }).reason, undefined);
  });

  test('they stay with the phase that they belong to', () => {
    const status = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'was too slow' };
    const { reason, message } = statusOf({ status, containers: [exited('c', 1)] });
    assert.deepEqual([reason, message], ['DeadlineExceeded', 'was too slow']);
    assert.equal(
      statusOf({ status: { phase: 'Pending', reason: 'X' }, containers: [running('c')] }).reason,
      undefined,
    );
  });

  test('what was said by an agent that started no pods is taken back', () => {
    const status = { phase: 'Pending', reason: 'NotStarted', message: 'the agent does not start pods' };
    assert.equal(statusOf({ status }).reason, undefined);
  });

  test('a pod that was refused has no containers', () => {
    const termination = { cause: 'failed', graceSeconds: 0, sinceMs: 0, reason: 'OutOfcpu' } as const;
    const record = {
      isAdmitted: false,
      termination: { ...termination, message: 'Pod was rejected: no cpu' },
    };
    const status = statusOf({ record, stage: 'ended' });
    assert.partialDeepStrictEqual(status, {
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: no cpu',
    });
    assert.equal(status.containerStatuses, undefined);
  });

  test('a pod that ran, was forgotten and is refused has containers that have ended', () => {
    const spec = { containers: [container('c'), container('d')] };
    const before = statusOf({ spec, containers: [running('c'), exited('d', 0)] });
    assert.ok(before.containerStatuses?.[0]?.state?.running);
    const record = {
      isAdmitted: false,
      termination: { cause: 'failed', graceSeconds: 0, sinceMs: 0 },
    } as const;
    for (const origin of ['api', 'file'] as const) {
      const status = statusOf({ spec, record, stage: 'ended', before, sandbox: 'none', more: { origin } });
      assert.deepEqual(
        status.containerStatuses?.map(({ state }) => state?.terminated?.reason),
        ['ContainerStatusUnknown', 'Completed'],
      );
    }
  });
});
