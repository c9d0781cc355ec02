import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Plan, PodRecord } from '../../../../../src/agent/pods/plan/types.ts';
import type { PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import { mayRun } from '../../../../../src/agent/pods/status/index.ts';
import type { ContainerView } from '../../../../../src/agent/pods/view/types.ts';
import { podChangeCauses } from '../../../../../src/api/index.ts';
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

/* Whatever the runtime, the record and the plan say, one after the other. */

const names = ['i', 's', 'a', 'b'];
const spec = (restartPolicy: string): NonNullable<Case['spec']> => ({
  restartPolicy,
  initContainers: [container('i'), container('s', { restartPolicy: 'Always' })],
  containers: [container('a', { readinessProbe: {} }), container('b', { startupProbe: {} })],
});

const attempts = fc.integer({ min: 0, max: 3 });
const exitCodes = fc.constantFrom(0, 1, 137);

const viewOf = (name: string): fc.Arbitrary<ContainerView[]> =>
  fc.oneof(
    fc.constant<ContainerView[]>([]),
    attempts.map((attempt) => [running(name, attempt)]),
    attempts.map((attempt) => [created(name, attempt)]),
    attempts.map((attempt) => [lostView(name, attempt)]),
    fc.tuple(attempts, exitCodes).map(([attempt, code]) => [exited(name, code, attempt)]),
    fc
      .tuple(attempts, exitCodes)
      .map(([attempt, code]) => [running(name, attempt + 1), exited(name, code, attempt)]),
  );

const recordOf: fc.Arbitrary<Partial<PodRecord>> = fc
  .tuple(
    fc.subarray(names),
    attempts,
    exitCodes,
    fc.boolean(),
    fc.constantFrom('deleted', 'gone', 'failed', undefined),
  )
  .map(([lost, attempt, code, isAdmitted, cause]) => ({
    isAdmitted,
    containers: Object.fromEntries(lost.map((name) => [name, { lastExit: exitRecord(name, attempt, code) }])),
    ...(cause === undefined
      ? {}
      : { termination: { cause, graceSeconds: 1, sinceMs: 0, reason: 'Evicted', message: 'M' } }),
  }));

const moments: fc.Arbitrary<Case> = fc
  .record({
    containers: fc.tuple(...names.map(viewOf)).map((views) => views.flat()),
    record: recordOf,
    stage: fc.constantFrom<Plan['stage']>('starting', 'running', 'terminating', 'ended'),
    waits: fc
      .subarray(names)
      .map((some) => Object.fromEntries(some.map((name) => [name, wait('CrashLoopBackOff')]))),
    sandbox: fc.constantFrom<NonNullable<Case['sandbox']>>('none', {}, { isReady: false, ips: [] }),
    probes: fc.constantFrom(
      new Map(),
      new Map([['a', { readiness: true }]]),
      new Map([['b', { startup: true }]]),
    ),
  })
  .map(({ record, ...rest }) => ({ ...rest, record }));

const lives = fc.tuple(
  fc.constantFrom('Always', 'OnFailure', 'Never'),
  fc.array(moments, { minLength: 1, maxLength: 6 }),
  fc.constantFrom<'api' | 'file'>('api', 'file'),
);

const isTerminal = (phase: string | undefined) => phase === 'Failed' || phase === 'Succeeded';

/** Calls `check` for each moment of a life, with the status before and after it. */
function live(check: (before: PodStatus, after: PodStatus, given: Case) => void): void {
  fc.assert(
    fc.property(lives, ([policy, all, origin]) => {
      let before: PodStatus = { phase: 'Pending', qosClass: 'BestEffort' };
      for (const moment of all) {
        const given: Case = { ...moment, spec: spec(policy), before, status: before, more: { origin } };
        const after = statusOf(given);
        check(before, after, given);
        before = after;
      }
    }),
    { numRuns: 400 },
  );
}

test('the API accepts every status after every other', () => {
  live((before, after, given) => {
    const { pod } = inputOf(given);
    const causes = podChangeCauses({ ...pod, status: after }, { ...pod, status: before }, 'status');
    assert.deepEqual(causes, []);
  });
});

test('a terminal phase is never left, and not taken while a container may run', () => {
  live((before, after, given) => {
    if (isTerminal(before.phase)) assert.equal(after.phase, before.phase);
    else if (mayRun(inputOf(given))) assert.equal(isTerminal(after.phase), false);
  });
});

test('a pod whose phase is terminal is not ready, and its readiness is that of its containers', () => {
  live((_before, after) => {
    const statusOfCondition = (type: string) => after.conditions?.find((each) => each.type === type)?.status;
    if (isTerminal(after.phase)) assert.equal(statusOfCondition('Ready'), 'False');
    if (statusOfCondition('Ready') === 'True') assert.equal(statusOfCondition('ContainersReady'), 'True');
    const lasting = [...(after.containerStatuses ?? [])];
    if (statusOfCondition('ContainersReady') === 'True') assert.ok(lasting.every(({ ready }) => ready));
  });
});

test('of a pod of the API that is over, no phase is open and no container of an initialized one waits', () => {
  live((_before, after, given) => {
    const input = inputOf(given);
    const isOver = given.stage === 'ended' && !mayRun(input) && input.origin === 'api';
    if (!isOver) return;
    assert.ok(isTerminal(after.phase), after.phase);
    const ended = (after.containerStatuses ?? []).map(({ state }) => state?.terminated !== undefined);
    assert.ok(ended.every(Boolean) || !ended.some(Boolean));
  });
});

test('a container has one state, an order, and a last end that is another than the present one', () => {
  live((_before, after) => {
    const all = [...(after.initContainerStatuses ?? []), ...(after.containerStatuses ?? [])];
    assert.deepEqual(
      all.map(({ name }) => name).filter((name) => !names.includes(name)),
      [],
    );
    for (const { state, lastState } of all) {
      assert.equal(Object.keys(state ?? {}).length, 1);
      const [id, lastId] = [state?.terminated?.containerID, lastState?.terminated?.containerID];
      if (id !== undefined) assert.notEqual(id, lastId);
    }
  });
});

test('computed again with nothing changed it is the same', () => {
  live((_before, after, given) => {
    assert.deepEqual(statusOf({ ...given, before: after, status: after }), after);
  });
});
