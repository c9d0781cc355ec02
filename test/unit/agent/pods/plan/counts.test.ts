import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planPod } from '../../../../../src/agent/pods/plan/index.ts';
import type { Given } from './support.ts';
import { created, exited, inputOf, lastExit } from './support.ts';

/** Attempt and restart count of the container that is started. */
function next(given: Given): [attempt: number, restartCount: number] {
  const step = planPod(inputOf(given)).steps.find(({ kind }) => kind === 'start');
  assert.ok(step?.kind === 'start', 'nothing is started');
  return [step.attempt, step.restartCount];
}

const counted = (restartCount: number) => ({
  annotations: { 'io.kubernetes.container.restartCount': String(restartCount) },
});

describe('attempts and restart counts', () => {
  const cases: readonly [string, Given, [number, number]][] = [
    ['the first', {}, [0, 0]],
    ['after one that ended', { containers: [exited('web', 1, 0)] }, [1, 1]],
    ['after many', { containers: [exited('web', 1, 7)] }, [8, 8]],
    ['the annotation counts, not the attempt', { containers: [exited('web', 1, 7, counted(3))] }, [8, 4]],
    [
      'a wrong annotation does not',
      { containers: [exited('web', 1, 7, { annotations: { 'io.kubernetes.container.restartCount': 'x' } })] },
      [8, 8],
    ],
    ['no annotation: the attempt', { containers: [exited('web', 1, 7, { annotations: {} })] }, [8, 8]],
    ['a call that failed takes an attempt, and is no restart', { known: { web: { attempt: 2 } } }, [3, 0]],
    [
      '… after one that ended too',
      { containers: [exited('web', 1, 1)], known: { web: { attempt: 4 } } },
      [5, 2],
    ],
    [
      'what the runtime has forgotten is in the record',
      { known: { web: { attempt: 5, made: { attempt: 5, restartCount: 3 }, lastExit: lastExit(5, 1) } } },
      [6, 4],
    ],
    ['only logs are left, as after a reboot', { known: { web: { loggedAttempt: 4 } } }, [5, 5]],
    [
      'only a log is left, and a call failed since',
      { known: { web: { loggedAttempt: 4, attempt: 5 } } },
      [6, 5],
    ],
    [
      'logs do not count when one is known that ran',
      {
        known: {
          web: {
            loggedAttempt: 4,
            attempt: 6,
            made: { attempt: 6, restartCount: 5 },
            lastExit: lastExit(6, 1),
          },
        },
      },
      [7, 6],
    ],
    [
      'another agent has left one that ran',
      { containers: [exited('web', 1, 3, counted(3))], known: { web: { loggedAttempt: 9 } } },
      [10, 4],
    ],
    [
      'one vanished that was started',
      { known: { web: { attempt: 5, made: { attempt: 5, restartCount: 2 }, lastExit: lastExit(3, 1) } } },
      [6, 3],
    ],
    [
      'the runtime knows more than the record',
      {
        containers: [exited('web', 1, 6, counted(5))],
        known: { web: { attempt: 2, made: { attempt: 2, restartCount: 2 } } },
      },
      [7, 6],
    ],
  ];
  for (const [fact, given, expected] of cases) it(fact, () => assert.deepEqual(next(given), expected));

  it('one that was made and never started is no restart', () => {
    const unfinished = inputOf({ containers: [created('other', 3, { name: 'web', ...counted(2) })] });
    assert.deepEqual(
      planPod(unfinished).steps.map(({ kind }) => kind),
      ['removeContainer'],
    );
  });
});
