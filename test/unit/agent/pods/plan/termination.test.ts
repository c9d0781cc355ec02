import type { StopStep, Termination } from '../../../../../src/agent/pods/plan/index.ts';
import {
  ago,
  container,
  created,
  exited,
  later,
  nowMs,
  pod,
  running,
  sidecar,
  table,
  unknown,
} from './support.ts';

const deletedPod = (deletionGracePeriodSeconds = 30) =>
  pod({ metadata: { deletionTimestamp: '2025-01-01T00:00:00Z', deletionGracePeriodSeconds } });
const ending = (graceSeconds = 30, secondsAgo = 0, cause: Termination['cause'] = 'deleted') => ({
  termination: { cause, graceSeconds, sinceMs: ago(secondsAgo) },
});
const alive = { containers: [running('web')] };
const stopping = (graceSeconds: number, deadlineMs: number): StopStep => ({
  kind: 'stop',
  container: 'web',
  containerId: 'web-0',
  graceSeconds,
  deadlineMs,
  message: '',
  runsPreStop: true,
});
const starting = (name: string) =>
  ({
    kind: 'start',
    container: name,
    type: 'regular',
    sandboxId: 's0',
    attempt: 0,
    restartCount: 0,
    imageId: '',
  }) as const;

table('why a pod ends', [
  [
    'its object is being deleted',
    { pod: deletedPod(), ...alive },
    {
      steps: ['stop web-0 30s'],
      stage: 'terminating',
      terminate: { cause: 'deleted', graceSeconds: 30, sinceMs: nowMs },
    },
  ],
  [
    'with the grace of the deletion',
    { pod: deletedPod(5), ...alive },
    { steps: ['stop web-0 5s'], terminate: { graceSeconds: 5 } },
  ],
  [
    'a deletion without grace lets it end all the same',
    { pod: deletedPod(0), ...alive },
    { steps: ['stop web-0 2s'], terminate: { graceSeconds: 1 } },
  ],
  [
    'a manifest has no deletion',
    { pod: deletedPod(), origin: 'file', ...alive },
    { steps: [], stage: 'running' },
  ],
  ['the record says so', { ...ending(10), ...alive }, { steps: ['stop web-0 10s'], stage: 'terminating' }],
  [
    'what the record says is not said again',
    { pod: deletedPod(), ...ending(30), ...alive },
    { terminate: 'none', steps: ['stop web-0 30s'] },
  ],
  [
    'a shorter deletion makes the grace shorter',
    { pod: deletedPod(5), ...ending(30), ...alive },
    { steps: ['stop web-0 5s'], terminate: { graceSeconds: 5, sinceMs: nowMs } },
  ],
  ['a longer one does not', { pod: deletedPod(60), ...ending(10), ...alive }, ['stop web-0 10s']],
  [
    'nor one that would end later than the rest of the grace',
    { pod: deletedPod(10), ...ending(30, 25), ...alive },
    ['stop web-0 5s'],
  ],
  [
    'a failed pod is deleted',
    { pod: deletedPod(60), ...ending(10, 0, 'failed'), ...alive },
    { terminate: { cause: 'deleted', graceSeconds: 10 } },
  ],
  [
    'one that is gone stays gone',
    { pod: deletedPod(60), ...ending(10, 0, 'gone'), ...alive },
    ['stop web-0 10s'],
  ],
  [
    'its deadline has passed',
    { pod: pod({ activeDeadlineSeconds: 7200 }), ...alive },
    {
      steps: ['stop web-0 30s'],
      terminate: {
        cause: 'failed',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
        graceSeconds: 30,
      },
    },
  ],
  [
    'its deadline is to come',
    { pod: pod({ activeDeadlineSeconds: 7260 }), ...alive },
    { steps: [], wakeMs: later(60) },
  ],
  [
    'a deadline before anything was made',
    { pod: pod({ activeDeadlineSeconds: 1 }), sandboxes: [] },
    { steps: ['release'], terminate: { reason: 'DeadlineExceeded' } },
  ],
  [
    'a deadline while it is being deleted',
    { pod: pod({ activeDeadlineSeconds: 1 }), ...ending(30), ...alive },
    { steps: ['stop web-0 30s'] },
  ],
  [
    'a complete pod has no deadline',
    { pod: pod({ activeDeadlineSeconds: 1, restartPolicy: 'Never' }), containers: [exited('web', 0)] },
    ['stopSandbox s0'],
  ],
]);

table('how containers end', [
  [
    'all together',
    {
      pod: pod({ regular: [container('a'), container('b')] }),
      ...ending(),
      containers: [running('a'), running('b')],
    },
    ['stop a-0 30s', 'stop b-0 30s'],
  ],
  [
    'the message of the event',
    { ...ending(), ...alive },
    { stop: { message: 'Stopping container web', runsPreStop: true, deadlineMs: later(30) } },
  ],
  ['what is left of the grace', { ...ending(30, 12), ...alive }, ['stop web-0 18s']],
  ['at least 2 s', { ...ending(30, 29), ...alive }, ['stop web-0 2s']],
  ['parts of a second are rounded up', { ...ending(10.2), ...alive }, ['stop web-0 11s']],
  [
    'a grace of 1 s is 2 s',
    { ...ending(1), ...alive },
    { steps: ['stop web-0 2s'], stop: { runsPreStop: true } },
  ],
  [
    'after the grace 2 s without its hook',
    { ...ending(30, 40), ...alive },
    ['stop web-0 2s without preStop'],
  ],
  [
    'for the restart of all containers: killed at once, without its hook',
    { ...ending(0), ...alive },
    ['stop web-0 0s without preStop'],
  ],
  [
    'a stop under way is not repeated',
    { ...ending(30, 5), ...alive, underWay: [stopping(30, later(25))] },
    [],
  ],
  [
    'a shorter grace overrides it',
    { ...ending(3), ...alive, underWay: [stopping(30, later(25))] },
    ['stop web-0 3s'],
  ],
  [
    'one that was overridden is not overridden again',
    { ...ending(3), ...alive, underWay: [stopping(30, later(25)), stopping(3, later(3))] },
    [],
  ],
  ['an equal one does not override', { ...ending(25), ...alive, underWay: [stopping(25, later(25))] }, []],
  [
    'a kill overrides a stop whose time is over',
    { ...ending(0), ...alive, underWay: [stopping(2, ago(60))] },
    ['stop web-0 0s without preStop'],
  ],
  [
    'a stop for a restart is overridden',
    { ...ending(2), ...alive, underWay: [{ ...stopping(30, later(29)), restarts: true }] },
    ['stop web-0 2s'],
  ],
  ['one of unknown state is stopped', { ...ending(), containers: [unknown('web')] }, ['stop web-0 30s']],
  ['one that was only made is removed', { ...ending(), containers: [created('web')] }, ['remove web-0']],
  [
    '… not while its start is under way',
    { ...ending(), containers: [created('web')], underWay: [starting('web')] },
    { steps: [], stage: 'terminating' },
  ],
  [
    'one whose hook after the start runs is stopped',
    { ...ending(), ...alive, underWay: [starting('web')] },
    ['stop web-0 30s'],
  ],
  [
    'init containers too',
    { pod: pod({ init: [container('i')] }), ...ending(), containers: [running('i')] },
    ['stop i-0 30s'],
  ],
  [
    'ephemeral ones too',
    { pod: pod({ ephemeralContainers: [{ name: 'e' }] }), ...ending(), containers: [running('e')] },
    ['stop e-0 30s'],
  ],
  ['what the pod does not have too', { ...ending(), containers: [running('other')] }, ['stop other-0 30s']],
  [
    'the wait names them',
    { ...ending(), ...alive },
    { wait: 'Terminating: the pod ends (deleted); containers are being stopped: web' },
  ],
]);

const withSidecars = pod({ init: [sidecar('s'), container('i'), sidecar('t')] });
const both = [running('s'), running('t')];

table('sidecars end last', [
  [
    'after the regular ones',
    { pod: withSidecars, ...ending(), containers: [...both, running('web')] },
    { steps: ['stop web-0 30s'], wakeMs: later(30) },
  ],
  ['in reverse order', { pod: withSidecars, ...ending(30, 4), containers: both }, ['stop t-0 26s']],
  [
    'the first at last',
    { pod: withSidecars, ...ending(30, 9), containers: [running('s'), exited('t', 143)] },
    ['stop s-0 21s'],
  ],
  [
    'while one is being stopped the other waits',
    {
      pod: withSidecars,
      ...ending(),
      containers: both,
      underWay: [{ ...stopping(30, later(30)), container: 't', containerId: 't-0' }],
    },
    [],
  ],
  [
    'when the grace is over nobody waits',
    { pod: withSidecars, ...ending(30, 31), containers: [...both, running('web')] },
    ['stop web-0 2s without preStop', 'stop t-0 2s without preStop', 'stop s-0 2s without preStop'],
  ],
  [
    'without grace nobody waits',
    { pod: withSidecars, ...ending(0), containers: [...both, running('web')] },
    ['stop web-0 0s without preStop', 'stop t-0 0s without preStop', 'stop s-0 0s without preStop'],
  ],
  [
    'a regular one that is being started is waited for',
    { pod: withSidecars, ...ending(), containers: both, underWay: [starting('web')] },
    [],
  ],
  [
    'one that ended is not started again',
    { pod: withSidecars, ...ending(), containers: [exited('s', 0), running('web')] },
    ['stop web-0 30s'],
  ],
]);

table('nothing starts once the end began', [
  ['no sandbox', { ...ending(), sandboxes: [] }, ['release']],
  ['no container', { ...ending() }, ['stopSandbox s0']],
  ['no restart', { ...ending(), containers: [exited('web', 1)] }, ['stopSandbox s0']],
  ['no prepare', { ...ending(), sandboxes: [], isPrepared: false }, ['release']],
  ['no image is asked for', { ...ending(), sandboxes: [] }, { images: [] }],
  [
    'a sandbox that is being made is waited for',
    { ...ending(), sandboxes: [], underWay: [{ kind: 'runSandbox', attempt: 0 }] },
    { steps: [], stage: 'terminating' },
  ],
  ['… also when it is there already', { ...ending(), underWay: [{ kind: 'runSandbox', attempt: 0 }] }, []],
]);
