import type { StartFailure } from '../../../../../src/agent/pods/plan/index.ts';
import type { Given } from './support.ts';
import { ago, container, exited, later, pod, running, table } from './support.ts';

const two = pod({ regular: [container('web'), container('b')] });
const failed = (count: number, secondsAgo: number, reason = 'CreateContainerError'): StartFailure => ({
  reason,
  message: 'it says why',
  atMs: ago(secondsAgo),
  count,
});
const after = (failure: StartFailure, more: Given = {}): Given => ({
  known: { web: { attempt: 0, failure } },
  ...more,
});

table('starts that failed', [
  [
    'the reason is passed on',
    after(failed(1, 0)),
    { steps: [], waits: { web: 'CreateContainerError: it says why' } },
  ],
  ['the first is tried again after 1 s', after(failed(1, 0)), { wakeMs: later(1) }],
  ['with the next attempt', after(failed(1, 1)), ['start web#1']],
  ['the second after 2 s', after(failed(2, 0)), { wakeMs: later(2) }],
  ['the fifth after 16 s', after(failed(5, 0)), { wakeMs: later(16) }],
  ['at the latest after a minute', after(failed(50, 0)), { wakeMs: later(60) }],
  [
    'a configuration is tried each 10 s',
    after(failed(1, 0, 'CreateContainerConfigError')),
    { wakeMs: later(10), waits: { web: 'CreateContainerConfigError: it says why' } },
  ],
  ['… however often it failed', after(failed(30, 4, 'CreateContainerConfigError')), { wakeMs: later(6) }],
  [
    'Never: what was not made is tried again',
    after(failed(1, 1), { pod: pod({ restartPolicy: 'Never' }) }),
    ['start web#1'],
  ],
  ['the others go on', after(failed(3, 0), { pod: two }), ['start b#0']],
  [
    'an init container that cannot be made holds up the pod',
    after(failed(3, 0), { pod: pod({ init: [container('web')], regular: [container('b')] }) }),
    { steps: [], waits: { web: 'CreateContainerError', b: 'PodInitializing' } },
  ],
  [
    'one that could not be run is restarted by the policy',
    {
      containers: [exited('web', 128, 0, { reason: 'StartError', finishedMs: ago(5) })],
      known: { web: { attempt: 0, failure: failed(1, 5, 'RunContainerError') } },
    },
    ['start web#1'],
  ],
  [
    '… after a second',
    {
      containers: [exited('web', 128, 0, { reason: 'StartError', finishedMs: ago(0) })],
      known: { web: { attempt: 0, failure: failed(1, 0, 'RunContainerError') } },
    },
    { steps: [], waits: { web: 'RunContainerError: it says why' }, wakeMs: later(1) },
  ],
  [
    '… and not at all with Never',
    {
      pod: pod({ restartPolicy: 'Never' }),
      containers: [exited('web', 128, 0, { reason: 'StartError' })],
      known: { web: { failure: failed(1, 0, 'RunContainerError') } },
    },
    ['stopSandbox s0'],
  ],
  [
    'a hook that failed: the container has ended, the policy counts',
    {
      containers: [exited('web', 143, 0, { finishedMs: ago(3) })],
      known: { web: { attempt: 0, failure: failed(1, 3, 'PostStartHookError') } },
    },
    ['start web#1'],
  ],
  [
    'a failure before the last run counts no more',
    {
      containers: [exited('web', 1, 1, { finishedMs: ago(1) })],
      known: { web: { attempt: 1, failure: failed(9, 5) } },
    },
    ['start web#2'],
  ],
  [
    'a running container has no failure',
    after(failed(1, 0), { containers: [running('web')] }),
    { steps: [], waits: { web: '' } },
  ],
  ['its image is not asked for before', after(failed(1, 0)), { images: [] }],
  [
    'the back-off that was decided is kept for the next try',
    {
      containers: [exited('web', 1, 0, { finishedMs: ago(20) })],
      known: { web: { attempt: 1, failure: failed(1, 1) } },
    },
    ['start web#2'],
  ],
]);

table('stops and removals that failed', [
  [
    'a stop waits for its next try',
    {
      pod: pod({ metadata: { deletionTimestamp: 'x' } }),
      containers: [running('web')],
      stopFailures: new Map([['container web-0', { reason: 'r', message: '', atMs: ago(0), count: 2 }]]),
    },
    { steps: [], wakeMs: later(2) },
  ],
  [
    '… 10 s at most',
    {
      pod: pod({ metadata: { deletionTimestamp: 'x' } }),
      containers: [running('web')],
      stopFailures: new Map([['container web-0', { reason: 'r', message: '', atMs: ago(0), count: 9 }]]),
    },
    { wakeMs: later(10) },
  ],
  [
    '… and then it is',
    {
      pod: pod({ metadata: { deletionTimestamp: 'x' } }),
      containers: [running('web')],
      stopFailures: new Map([['container web-0', { reason: 'r', message: '', atMs: ago(10), count: 9 }]]),
    },
    ['stop web-0 30s'],
  ],
  [
    'a forced one does not wait',
    {
      termination: { cause: 'gone', graceSeconds: 0, sinceMs: ago(0) },
      containers: [running('web')],
      stopFailures: new Map([['container web-0', { reason: 'r', message: '', atMs: ago(0), count: 9 }]]),
    },
    ['stop web-0 0s without preStop'],
  ],
  [
    'a release waits for its next try',
    {
      termination: { cause: 'deleted', graceSeconds: 5, sinceMs: ago(9) },
      sandboxes: [],
      cleanupFailure: { reason: 'FailedUnmount', message: 'busy', atMs: ago(0), count: 3 },
    },
    { steps: [], wait: 'FailedUnmount: busy', wakeMs: later(4) },
  ],
  [
    '… and is tried again',
    {
      termination: { cause: 'deleted', graceSeconds: 5, sinceMs: ago(9) },
      sandboxes: [],
      cleanupFailure: { reason: 'FailedUnmount', message: 'busy', atMs: ago(4), count: 3 },
    },
    ['release'],
  ],
]);
