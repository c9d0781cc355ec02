/** Indexes, waits and policies of Jobs: tables of cases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobSpec, Pod } from '../../../../../src/api/index.ts';
import { delayAfter, mayCreateAtMs, recordEnds } from '../../../../../src/apiserver/workloads/job/backoff.ts';
import { judgeFailure } from '../../../../../src/apiserver/workloads/job/failure-policy.ts';
import { IndexSet } from '../../../../../src/apiserver/workloads/job/indexes.ts';
import { endOf } from '../../../../../src/apiserver/workloads/job/job-pods.ts';
import { findSuccess } from '../../../../../src/apiserver/workloads/job/success-policy.ts';
import { at, bad, indexed, job, nowMs, ok, pod } from './job-cases.ts';

test('indexes are read and written as ranges', () => {
  for (const [text, limit, size, written] of [
    ['', 10, 0, ''],
    ['1,3-5', 10, 4, '1,3-5'],
    ['1,2', 10, 2, '1,2'],
    ['0-2,2-4,6', 10, 6, '0-4,6'],
    ['3-8', 5, 2, '3,4'],
    ['7,x,2', 5, 1, '2'],
  ] as const) {
    const set = IndexSet.parse(text, limit);
    assert.deepEqual([set.size, String(set)], [size, written], text);
  }
  const set = IndexSet.parse('1,3-5', 10);
  assert.deepEqual(
    [0, 1, 2, 3, 5, 6].map((index) => set.has(index)),
    [false, true, false, true, true, false],
  );
  assert.deepEqual(set.firstMissing(4, 8), [0, 2, 6, 7]);
  assert.deepEqual(set.firstMissing(2, 8), [0, 2]);
  assert.equal(String(set.union(IndexSet.of([2, 9]))), '1-5,9');
  assert.equal(set.countCommon(IndexSet.of([1, 2, 4])), 2);
});

test('the wait doubles up to 10 minutes', () => {
  const waits = [1, 2, 3, 6, 7, 8, 1000].map((failures) => delayAfter(failures) / 1000);
  assert.deepEqual(waits, [10, 20, 40, 320, 600, 600, 600]);
});

test('failures before the last success are forgotten, and none counts twice', () => {
  const failed = (uid: string, endedAgo: number) => pod(uid, { ...bad, endedAgo });
  const success = pod('s', { ...ok, endedAgo: 30 });
  const before = recordEnds(undefined, [], [failed('a', 90), failed('b', 80)]);
  assert.deepEqual([...before.failures.keys()], ['b', 'a']);
  assert.equal(recordEnds(before, [], []).failures.size, 2, 'those that are gone still count');
  assert.equal(recordEnds(before, [], [failed('a', 90), failed('c', 10)]).failures.size, 3);
  assert.equal(recordEnds(before, [success], []).failures.size, 0);
  assert.deepEqual(
    [...recordEnds(before, [success], [failed('d', 40), failed('e', 10)]).failures.keys()],
    ['e'],
  );
  const many = Array.from({ length: 99 }, (_, number) => failed(`p${number}`, number));
  assert.equal(mayCreateAtMs(recordEnds(undefined, [], many)), nowMs + 600_000);
});

test('when a pod ended is what its containers say, or the nearest that is known', () => {
  const ended = (finishedAt: string) => ({
    ...{ name: 'm', image: '', imageID: '', ready: false, restartCount: 0 },
    state: { terminated: { exitCode: 1, finishedAt } },
  });
  const base = pod('a', { ...bad, endedAgo: 60 });
  const withContainers = {
    ...base,
    status: { ...base.status, containerStatuses: [ended(at(90)), ended(at(80))] },
  };
  assert.equal(endOf(withContainers), nowMs - 80_000);
  assert.equal(endOf(base), nowMs - 60_000);
  const going = { ...pod('a', { isGoing: true }), status: { phase: 'Running' } };
  assert.equal(endOf(going), nowMs - 10_000);
  assert.equal(endOf({ ...base, status: bad }), nowMs - 500_000);
});

type FailureRule = NonNullable<NonNullable<JobSpec['podFailurePolicy']>['rules']>[number];

test('the first rule that fits a failure decides', () => {
  const exit = (operator: string, values: number[], containerName?: string) => ({
    onExitCodes: { operator, values, ...(containerName === undefined ? {} : { containerName }) },
  });
  const failed = (exitCode: number): Pod => ({
    metadata: { name: 'p', namespace: 'ns' },
    status: {
      phase: 'Failed',
      conditions: [{ type: 'DisruptionTarget', status: 'True' }],
      containerStatuses: [
        {
          name: 'm',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode } },
        },
      ],
    },
  });
  for (const [rule, code, action] of [
    [{ action: 'Ignore', ...exit('In', [1, 2]) }, 2, 'Ignore'],
    [{ action: 'Ignore', ...exit('In', [1, 2]) }, 3, undefined],
    [{ action: 'Count', ...exit('NotIn', [1, 2]) }, 3, 'Count'],
    [{ action: 'Count', ...exit('NotIn', [1, 2]) }, 0, undefined],
    [{ action: 'FailIndex', ...exit('In', [1], 'm') }, 1, 'FailIndex'],
    [{ action: 'FailIndex', ...exit('In', [1], 'other') }, 1, undefined],
    [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }, 1, 'FailJob'],
    [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'False' }] }, 1, undefined],
  ] satisfies [FailureRule, number, string | undefined][]) {
    const verdict = judgeFailure({ rules: [structuredClone<FailureRule>(rule)] }, failed(code));
    assert.equal(verdict.action, action, JSON.stringify(rule));
    assert.equal(verdict.counts, action !== 'Ignore');
  }
});

test('success needs one of the rules', () => {
  for (const [rule, succeeded, isMet] of [
    [{ succeededIndexes: '0,2' }, '0,2,3', true],
    [{ succeededIndexes: '0,2' }, '0,3', false],
    [{ succeededIndexes: '0,2', succeededCount: 1 }, '0,3', true],
    [{ succeededIndexes: '0,2', succeededCount: 1 }, '1,3', false],
    [{ succeededCount: 2 }, '1,3', true],
    [{ succeededCount: 2 }, '', false],
  ] as const) {
    const object = job({ ...indexed, successPolicy: { rules: [{ succeededCount: 4 }, rule] } });
    const found = findSuccess(object, IndexSet.parse(succeeded, 4));
    assert.equal(found, isMet ? 'Matched rules at index 1' : undefined, JSON.stringify(rule));
  }
});
