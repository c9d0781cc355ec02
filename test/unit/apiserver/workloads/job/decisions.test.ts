/** What is decided of Jobs: a table of cases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job, Pod } from '../../../../../src/api/index.ts';
import { countPods, tallyPods } from '../../../../../src/apiserver/workloads/job/count.ts';
import { decideJob } from '../../../../../src/apiserver/workloads/job/decide.ts';
import { at, bad, failing, indexed, job, nowMs, ok, perIndex, pod, succeeding } from './job-cases.ts';

const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata?.uid);

/** In short: what is made and removed, and the status without its times. */
function decide(object: Job, pods: readonly Pod[]) {
  const { create, dismiss, end, release, status, againMs } = decideJob({
    ...{ job: object, pods, record: undefined, nowMs },
  });
  const { uncountedTerminatedPods: uncounted = {} } = status;
  return {
    create: create.map(({ index }) => index ?? '-').join(),
    remove: [...uids(dismiss), ...uids(end).map((uid) => `${uid}!`)].join(),
    release: uids(release).join(),
    counts: `${status.active ?? 0} ${status.terminating ?? 0} ${status.succeeded ?? 0}+${uncounted.succeeded?.length ?? 0} ${status.failed ?? 0}+${uncounted.failed?.length ?? 0}`,
    conditions: (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`).join(),
    again: againMs === undefined ? '' : `${(againMs - nowMs) / 1000}`,
  };
}

type Expected = Partial<ReturnType<typeof decide>>;
const cases: readonly (readonly [name: string, object: Job, pods: readonly Pod[], expected: Expected])[] = [
  ['begins', job({ completions: 1 }), [], { create: '-', counts: '0 0 0+0 0+0', again: '' }],
  ['no more than it needs', job({ completions: 2, parallelism: 5 }), [], { create: '-,-' }],
  ['no more than remain', job({ completions: 3, parallelism: 3 }, { succeeded: 2 }), [], { create: '-' }],
  ['no more than may run', job({ completions: 9, parallelism: 2 }), [pod('a')], { create: '-' }],
  [
    'at most 500 at once',
    job({ completions: 900, parallelism: 900 }),
    [],
    { create: Array(500).fill('-').join() },
  ],
  ['none with parallelism 0', job({ completions: 1, parallelism: 0 }), [], { create: '' }],
  [
    'complete with nothing to do',
    job({ completions: 0 }),
    [],
    { create: '', conditions: 'SuccessCriteriaMet CompletionsReached' },
  ],
  [
    'too many go',
    job({ completions: 5, parallelism: 1 }),
    [pod('a'), pod('b', { phase: 'Pending' })],
    { remove: 'b', create: '' },
  ],
  [
    'too many for what remains go',
    job({ completions: 3, parallelism: 3 }, { succeeded: 2 }),
    [pod('a'), pod('b', { phase: 'Pending' })],
    { remove: 'b' },
  ],
  [
    'an interrupted removal is finished',
    job({ completions: 2, parallelism: 2 }),
    [pod('a'), pod('b', { isCounted: true })],
    { remove: 'b', create: '' },
  ],
  [
    'a queue: none after a success',
    job({ parallelism: 3 }),
    [pod('a', ok), pod('b')],
    { create: '', remove: '', counts: '1 0 0+1 0+0', conditions: '' },
  ],
  [
    'a queue: complete when all have ended',
    job({ parallelism: 3 }),
    [pod('a', ok), pod('b', bad)],
    { conditions: 'SuccessCriteriaMet CompletionsReached' },
  ],
  [
    'counts first, lets go then',
    job({ completions: 2 }),
    [pod('a', ok)],
    { release: 'a', counts: '0 0 0+1 0+0' },
  ],
  [
    'counts no uid twice',
    job({ completions: 3 }, { uncountedTerminatedPods: { succeeded: ['a'] } }),
    [pod('a', ok)],
    { release: 'a', counts: '0 0 0+1 0+0' },
  ],
  [
    'a finalizer gone makes a number',
    job({ completions: 3 }, { uncountedTerminatedPods: { succeeded: ['a'] } }),
    [pod('a', { ...ok, isCounted: true })],
    { release: '', counts: '0 0 1+0 0+0' },
  ],
  [
    'so does a pod that is gone',
    job({ completions: 3 }, { uncountedTerminatedPods: { failed: ['x'] } }),
    [],
    { counts: '0 0 0+0 1+0' },
  ],
  [
    'what is counted is not counted again',
    job({ completions: 3 }, { succeeded: 1 }),
    [pod('a', { ...ok, isCounted: true })],
    { counts: '0 0 1+0 0+0' },
  ],
  [
    'what failed first and then succeeded has failed',
    job({ completions: 3 }, { uncountedTerminatedPods: { failed: ['a'] } }),
    [pod('a', ok)],
    { counts: '0 0 0+0 0+1', create: '-' },
  ],
  [
    'a failure waits',
    job({ completions: 1 }),
    [pod('a', { ...bad, endedAgo: 4 })],
    { create: '', again: '6' },
  ],
  ['and then is tried again', job({ completions: 1 }), [pod('a', { ...bad, endedAgo: 10 })], { create: '-' }],
  [
    'three failures wait for 40 s',
    job({ completions: 1 }),
    [pod('a', bad), pod('b', { ...bad, isCounted: true }), pod('c', { ...bad, endedAgo: 4 })],
    { again: '36' },
  ],
  [
    'a success ends the wait',
    job({ completions: 2 }),
    [pod('a', { ...bad, endedAgo: 4 }), pod('b', { ...ok, endedAgo: 2 })],
    { create: '-' },
  ],
  [
    'too many failures',
    job({ completions: 1, backoffLimit: 1 }, { failed: 1 }),
    [pod('a', bad)],
    { conditions: 'FailureTarget BackoffLimitExceeded', remove: '', create: '' },
  ],
  [
    'that is written before anything goes',
    job({ completions: 1, backoffLimit: 0, parallelism: 2 }),
    [pod('a', bad), pod('b')],
    { conditions: 'FailureTarget BackoffLimitExceeded', remove: '', release: 'a' },
  ],
  [
    'then the rest goes',
    job({ completions: 1 }, { conditions: [failing] }),
    [pod('b')],
    { remove: 'b!', release: '' },
  ],
  [
    'and counts as failed',
    job({ completions: 1 }, { conditions: [failing] }),
    [pod('b', { isGoing: true })],
    { release: 'b', counts: '0 1 0+0 0+1' },
  ],
  [
    'failed when all is over',
    job({ completions: 1 }, { conditions: [failing] }),
    [],
    { conditions: 'FailureTarget R,Failed R' },
  ],
  [
    'not while a pod is going',
    job({ completions: 1 }, { conditions: [failing] }),
    [pod('b', { isGoing: true, isCounted: true })],
    { conditions: 'FailureTarget R' },
  ],
  [
    'nor while one is uncounted',
    job({ completions: 1 }, { conditions: [succeeding], uncountedTerminatedPods: { succeeded: ['b'] } }),
    [pod('b', ok)],
    { conditions: 'SuccessCriteriaMet R' },
  ],
  [
    'restarts count with OnFailure',
    job({
      completions: 1,
      backoffLimit: 2,
      template: { spec: { restartPolicy: 'OnFailure', containers: [] } },
    }),
    [
      {
        ...pod('a'),
        status: {
          phase: 'Running',
          containerStatuses: [{ name: 'm', image: '', imageID: '', ready: false, restartCount: 2 }],
        },
      },
    ],
    { conditions: 'FailureTarget BackoffLimitExceeded' },
  ],
  [
    'too late',
    job({ completions: 1, activeDeadlineSeconds: 600 }),
    [pod('a')],
    { conditions: 'FailureTarget DeadlineExceeded' },
  ],
  [
    'not yet too late',
    job({ completions: 1, activeDeadlineSeconds: 601 }),
    [pod('a')],
    { conditions: '', again: '1' },
  ],
  [
    'a success is not too late',
    job({ completions: 1, activeDeadlineSeconds: 60 }, { conditions: [succeeding] }),
    [],
    { conditions: 'SuccessCriteriaMet R,Complete R' },
  ],
  [
    'suspended',
    job({ completions: 1, suspend: true }),
    [pod('a')],
    { remove: 'a', conditions: 'Suspended JobSuspended' },
  ],
  [
    'a deleted pod has failed',
    job({ completions: 1, backoffLimit: 0 }),
    [pod('a', { isGoing: true })],
    { conditions: 'FailureTarget BackoffLimitExceeded', release: 'a' },
  ],
  [
    'unless its end is waited for',
    job({ completions: 1, backoffLimit: 0, podReplacementPolicy: 'Failed' }),
    [pod('a', { isGoing: true })],
    { conditions: '', release: '', create: '' },
  ],
  [
    'one that no node has will not end',
    job({ completions: 1, backoffLimit: 0, podReplacementPolicy: 'Failed' }),
    [pod('a', { isGoing: true, node: '' })],
    { conditions: 'FailureTarget BackoffLimitExceeded' },
  ],
  ['indexes in order', job(indexed), [], { create: '0,1' }],
  ['the next index', job(indexed, { completedIndexes: '0' }), [pod('b', { index: 1 })], { create: '2' }],
  [
    'a failed index again',
    job(indexed),
    [pod('a', { ...bad, index: 0 }), pod('b', { index: 1 })],
    { create: '0' },
  ],
  [
    'an index twice',
    job(indexed),
    [pod('a', { index: 0 }), pod('b', { index: 0, phase: 'Pending' })],
    { remove: 'b' },
  ],
  [
    'an index that it has not',
    job(indexed),
    [pod('a', { index: 0 }), pod('b', { index: 7 })],
    { remove: 'b' },
  ],
  ['no index at all', job(indexed), [pod('a')], { remove: 'a' }],
  [
    'a success of an index that it has not',
    job(indexed),
    [pod('a', { ...ok, index: 7 })],
    { release: 'a', counts: '0 0 0+0 0+0' },
  ],
  [
    'an index counts once',
    job(indexed, { completedIndexes: '0', succeeded: 1 }),
    [pod('a', { ...ok, index: 0 }), pod('b', { ...ok, index: 0 })],
    { release: 'a,b', counts: '0 0 1+0 0+0' },
  ],
  [
    'all indexes',
    job({ ...indexed, completions: 2 }, { completedIndexes: '0' }),
    [pod('a', { ...ok, index: 1 })],
    { conditions: 'SuccessCriteriaMet CompletionsReached', counts: '0 0 2+0 0+0' },
  ],
  [
    'an index waits for itself only',
    job(perIndex),
    [pod('a', { ...bad, index: 0, endedAgo: 4 })],
    { create: '1,2', release: '' },
  ],
  [
    'and longer after more',
    job({ ...perIndex, completions: 1, backoffLimitPerIndex: 5 }),
    [pod('a', { ...bad, index: 0, endedAgo: 4, failures: 2 })],
    { create: '', again: '36' },
  ],
  [
    'its last failure stays until there is a new pod',
    job(perIndex),
    [pod('a', { ...bad, index: 0 }), pod('b', { index: 0 })],
    { release: 'a', counts: '1 0 0+0 0+1' },
  ],
  [
    'an index that has failed too often',
    job(perIndex),
    [pod('a', { ...bad, index: 0, failures: 1 })],
    { create: '1,2', release: 'a' },
  ],
  [
    'too many of them',
    job({ ...perIndex, maxFailedIndexes: 0 }),
    [pod('a', { ...bad, index: 0, failures: 1 })],
    { conditions: 'FailureTarget MaxFailedIndexesExceeded' },
  ],
  [
    'none left',
    job({ ...perIndex, completions: 2 }, { completedIndexes: '1' }),
    [pod('a', { ...bad, index: 0, failures: 1 })],
    { conditions: 'FailureTarget FailedIndexes' },
  ],
  [
    'enough by its rule',
    job({ ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } }),
    [pod('a', { ...ok, index: 3 }), pod('b', { index: 0 })],
    { conditions: 'SuccessCriteriaMet SuccessPolicy', remove: '' },
  ],
  [
    'then the rest goes uncounted',
    job(indexed, { conditions: [succeeding] }),
    [pod('b', { isGoing: true, index: 0 })],
    { release: 'b', counts: '0 1 0+0 0+0' },
  ],
];

describe('a Job', () => {
  for (const [name, object, pods, expected] of cases) {
    test(name, () => {
      const decision = decide(object, pods);
      const names = Object.keys(expected);
      const found = Object.fromEntries(Object.entries(decision).filter(([key]) => names.includes(key)));
      assert.deepEqual(found, expected);
    });
  }

  test('that is being deleted makes nothing and holds nothing', () => {
    const going = { ...job(perIndex), metadata: { ...job({}).metadata, deletionTimestamp: at(1) } };
    const pods = [pod('a', { index: 0 }), pod('b', { ...bad, index: 1 })];
    const { create, remove, release } = decide(going, pods);
    assert.deepEqual([create, remove, release], ['', '', 'a,b']);
  });

  test('lists at most 500 uids, and goes on with the others', () => {
    const object = job({ completions: 900, parallelism: 900 });
    const pods = Array.from({ length: 600 }, (_, number) => pod(`p${number}`, ok));
    const tally = tallyPods(object, pods, countPods(object, pods), false, new Set());
    assert.equal(tally.status.uncountedTerminatedPods?.succeeded?.length, 500);
    assert.deepEqual([tally.release.length, tally.hasMore], [500, true]);
  });
});
