import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodRecord, Step } from '../../../../../src/agent/pods/plan/index.ts';
import {
  withBegun,
  withLogged,
  withObserved,
  withReported,
  withStarted,
  withStartFailure,
} from '../../../../../src/agent/pods/plan/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Given } from './support.ts';
import { created, deadSandbox, exited, inputOf, lastExit, nowMs, running, sandbox } from './support.ts';

function observed(given: Given): PodRecord {
  const { record, view } = inputOf(given);
  return withObserved(record, view);
}

const web = (given: Given) => observed(given).containers['web'] ?? {};

describe('what the record takes from the runtime', () => {
  it('is nothing when the runtime has nothing', () => {
    const { record } = inputOf({ sandboxes: [] });
    assert.equal(withObserved(record, undefined), record);
  });
  it('is nothing when it knows everything', () => {
    const { record, view } = inputOf({ containers: [running('web')] });
    const once = withObserved(record, view);
    assert.equal(withObserved(once, view), once);
  });
  it('the attempt of the sandbox', () =>
    assert.equal(observed({ sandboxes: [sandbox(3)] }).sandboxAttempt, 3));
  it('the addresses', () => assert.deepEqual(observed({}).ips, ['10.0.0.1']));
  it('not the missing addresses of a dead sandbox', () => {
    assert.deepEqual(observed({ sandboxes: [deadSandbox()], record: { ips: ['10.0.0.9'] } }).ips, [
      '10.0.0.9',
    ]);
  });
  it('the attempt of a container', () => assert.equal(web({ containers: [created('web', 4)] }).attempt, 4));
  it('never a lower attempt', () => {
    assert.equal(web({ containers: [running('web', 4)], known: { web: { attempt: 7 } } }).attempt, 7);
  });
  it('that a container has run, with its restart count', () => {
    const annotations = { 'io.kubernetes.container.restartCount': '2' };
    assert.deepEqual(web({ containers: [running('web', 4, { annotations })] }).made, {
      attempt: 4,
      restartCount: 2,
    });
  });
  it('not that one has run which was only made', () => {
    assert.equal(web({ containers: [created('web')] }).made, undefined);
  });
  it('how it ended', () => {
    assert.partialDeepStrictEqual(web({ containers: [exited('web', 3)] }).lastExit ?? {}, {
      id: 'web-0',
      exitCode: 3,
      sandboxId: 's0',
    });
  });
  it('the newest end', () => {
    const { lastExit: last } = web({
      containers: [running('web', 2), exited('web', 1, 1), exited('web', 2, 0)],
    });
    assert.equal(last?.attempt, 1);
  });
  it('not the end that it knows already, which may be history', () => {
    const history = { ...lastExit(0, 1), id: 'web-0', isHistory: true };
    assert.equal(
      web({ containers: [exited('web', 1)], known: { web: { lastExit: history } } }).lastExit,
      history,
    );
  });
  it('that a start has succeeded after its failure', () => {
    const failure = { reason: 'r', message: '', atMs: 5, count: 1 };
    assert.equal(web({ containers: [running('web')], known: { web: { failure } } }).failure, undefined);
  });
  it('not while the failure is that of this container', () => {
    const failure = { reason: 'PostStartHookError', message: '', atMs: nowMs, count: 1 };
    assert.equal(web({ containers: [running('web')], known: { web: { failure } } }).failure, failure);
  });
  it('that the restart which was asked for has happened', () => {
    const known = { web: { restartOf: 'web-0' } };
    assert.equal(web({ containers: [exited('web', 0)], known }).restartOf, 'web-0');
    assert.equal(web({ containers: [exited('web', 0), running('web', 1)], known }).restartOf, undefined);
  });
});

describe('what is written before a step', () => {
  const begun = (step: Step, given: Given = {}): PodRecord => {
    const { record, view } = inputOf(given);
    return withBegun(record, step, view);
  };
  const stop = {
    kind: 'stop',
    container: 'web',
    containerId: 'web-0',
    graceSeconds: 1,
    deadlineMs: 1,
    message: '',
    runsPreStop: true,
  } as const;

  it('the attempt of a sandbox', () => {
    assert.equal(begun({ kind: 'runSandbox', attempt: 5 }).sandboxAttempt, 5);
  });
  it('the attempt of a container and its next wait', () => {
    const backoff = { key: 'k', waitMs: 1, sinceMs: 2, afterId: 'web-1' };
    const step = {
      kind: 'start',
      container: 'web',
      type: 'regular',
      sandboxId: 's0',
      attempt: 2,
      restartCount: 2,
      imageId: '',
      backoff,
    } as const;
    assert.deepEqual(begun(step).containers['web'], { attempt: 2, backoff });
  });
  it('that a stop is for a restart', () => {
    assert.equal(begun({ ...stop, restarts: true }).containers['web']?.restartOf, 'web-0');
  });
  it('nothing for another stop', () => assert.deepEqual(begun(stop).containers, {}));
  it('that an end is history, when all are restarted', () => {
    const step = {
      kind: 'removeContainer',
      containerId: 'web-0',
      container: 'web',
      forRestart: true,
    } as const;
    const { lastExit: ended } = begun(step, { containers: [exited('web', 42)] }).containers['web'] ?? {};
    assert.partialDeepStrictEqual(ended ?? {}, { isHistory: true, reason: 'Error', exitCode: 42 });
  });
  it('nothing for another removal', () => {
    const step = { kind: 'removeContainer', containerId: 'web-0', container: 'web' } as const;
    assert.deepEqual(begun(step, { containers: [exited('web', 1)] }).containers, {});
  });
});

describe('a start that succeeded', () => {
  const started = {
    kind: 'start',
    container: 'web',
    type: 'regular',
    sandboxId: 's0',
    attempt: 3,
    restartCount: 1,
    imageId: '',
  } as const;

  it('is remembered at once, for the container may be gone before it is seen', () => {
    const failure = { reason: 'CreateContainerError', message: 'no', atMs: 1, count: 2 };
    const { record } = inputOf({ known: { web: { attempt: 3, failure } } });
    assert.deepEqual(withStarted(record, started).containers['web'], {
      attempt: 3,
      made: { attempt: 3, restartCount: 1 },
    });
  });
});

describe('logs that were left', () => {
  it('say nothing of what the record knows', () => {
    const { record } = inputOf({ known: { web: { attempt: 1 } } });
    const logged = withLogged(record, new Map(Object.entries({ web: 9, b: 4 })));
    assert.deepEqual(logged.containers, { web: { attempt: 1 }, b: { loggedAttempt: 4 } });
    assert.equal(withLogged(record, new Map()), record);
  });
});

describe('a start that failed', () => {
  it('is counted', () => {
    const { record } = inputOf({});
    const once = withStartFailure(record, 'web', { reason: 'r', message: 'm' }, 7);
    const twice = withStartFailure(once, 'web', { reason: 'r', message: 'n' }, 9);
    assert.deepEqual(twice.containers['web']?.failure, { reason: 'r', message: 'n', atMs: 9, count: 2 });
  });
});

describe('what the record takes from what the API was told', () => {
  const told = (restartCount: number, state: object, lastState = {}, containerID = 'c://1'): Pod => ({
    ...inputOf({}).pod,
    status: {
      containerStatuses: [
        {
          name: 'web',
          ready: true,
          restartCount,
          image: 'web:1',
          imageID: 'x',
          containerID,
          state,
          lastState,
        },
      ],
    },
  });
  const reported = (known: PodRecord['containers'], pod: Pod) =>
    withReported(inputOf({ known }).record, pod).containers['web'];
  const running = { running: {} };

  it('that what it only knows was tried has run', () => {
    assert.deepEqual(reported({ web: { attempt: 0 } }, told(0, running)), {
      attempt: 0,
      made: { attempt: 0, restartCount: 0 },
    });
    const made = { attempt: 1, restartCount: 1 };
    assert.deepEqual(reported({ web: { attempt: 3, made } }, told(2, running))?.made, {
      attempt: 3,
      restartCount: 2,
    });
  });
  it('nothing that it knows, nothing that did not run, and nothing of what it did not try', () => {
    const made = { attempt: 3, restartCount: 2 };
    const unchanged: readonly [PodRecord['containers'], Pod][] = [
      [{ web: { attempt: 3, made } }, told(2, running)],
      [{ web: { attempt: 4, made } }, told(2, running)],
      [{ web: { attempt: 4, made } }, told(2, { waiting: {} })],
      [{}, told(2, running)],
    ];
    for (const [known, pod] of unchanged) {
      const { record } = inputOf({ known });
      assert.equal(withReported(record, pod), record);
    }
  });

  const end = {
    ...{ exitCode: 3, reason: 'Error', message: 'm', containerID: 'c://1' },
    ...{ startedAt: '2025-01-01T00:00:01Z', finishedAt: '2025-01-01T00:00:02Z' },
  };
  const [startedMs, finishedMs] = [Date.parse(end.startedAt), Date.parse(end.finishedAt)];
  const exit = { id: '1', exitCode: 3, reason: 'Error', message: 'm', startedMs, finishedMs };

  it('how a container ended of which it knows that it ran, was tried, or has a log', () => {
    const made = { attempt: 4, restartCount: 2 };
    const known: readonly [PodRecord['containers'], object][] = [
      [{ web: { attempt: 5, made } }, { attempt: 5, made, lastExit: { ...exit, attempt: 4 } }],
      [{ web: { attempt: 4 } }, { attempt: 4, made, lastExit: { ...exit, attempt: 4 } }],
      [{ web: { loggedAttempt: 4 } }, { loggedAttempt: 4, made, lastExit: { ...exit, attempt: 4 } }],
      [{}, { made: { attempt: 2, restartCount: 2 }, lastExit: { ...exit, attempt: 2 } }],
    ];
    for (const [containers, after] of known)
      assert.deepEqual(reported(containers, told(2, { terminated: end })), after);
  });
  it('how one ended that waits for its restart', () => {
    const made = { attempt: 2, restartCount: 2 };
    const pod = told(2, { waiting: { reason: 'CrashLoopBackOff' } }, { terminated: end });
    assert.deepEqual(reported({ web: { made } }, pod), { made, lastExit: { ...exit, attempt: 2 } });
  });
  it('no end that it knows, that is older, of another container, without a time, or by a restart of all', () => {
    const made = { attempt: 4, restartCount: 2 };
    const lastExit = { ...exit, attempt: 4, isHistory: true };
    const { finishedAt: _none, ...timeless } = end;
    const unchanged: readonly [PodRecord['containers'], Pod][] = [
      [{ web: { made, lastExit } }, told(2, { terminated: end })],
      [{ web: { made } }, told(1, { terminated: end })],
      [{ web: { made } }, told(2, { terminated: timeless })],
      [{ web: { made } }, told(2, { terminated: { ...end, finishedAt: 'noon' } })],
      [{ web: { made } }, told(2, { waiting: {} }, { terminated: { ...end, containerID: 'c://0' } })],
      [
        { web: { made } },
        told(2, { waiting: {} }, { terminated: { ...end, reason: 'RestartingAllContainers' } }),
      ],
      [{ web: { made } }, told(2, running, { terminated: { ...end, containerID: 'c://0' } })],
    ];
    for (const [known, pod] of unchanged) {
      const { record } = inputOf({ known });
      assert.equal(withReported(record, pod), record);
    }
  });
  it('of such an end, as soon as the runtime tells of it, all that it tells', () => {
    const web = exited('web', 0, 4);
    const { lastExit } = withReportedAndObserved(web);
    assert.equal(lastExit?.sandboxId, web.sandboxId);
  });
  const withReportedAndObserved = (web: ReturnType<typeof exited>) => {
    const ended = { ...end, containerID: `c://${web.id}` };
    const pod = told(4, { terminated: ended }, undefined, ended.containerID);
    const { record, view } = inputOf({ containers: [web], known: { web: { attempt: 4 } } });
    return withObserved(withReported(record, pod), view).containers['web'] ?? {};
  };
});
