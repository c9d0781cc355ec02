import type { Case } from './support.ts';
import {
  ago,
  container,
  created,
  deadSandbox,
  exited,
  later,
  pod,
  running,
  sandbox,
  sidecar,
  table,
  unknown,
} from './support.ts';

const onHost = pod({ hostNetwork: true });
const hostSandbox = sandbox(0, { network: 'host', ips: [] });
const never = pod({ restartPolicy: 'Never' });
const onFailure = pod({ restartPolicy: 'OnFailure' });
const failure = (count: number, secondsAgo: number) => ({
  sandboxFailure: { reason: 'FailedCreatePodSandBox', message: 'no network', atMs: ago(secondsAgo), count },
});
const none = { sandboxes: [] };

table('when a sandbox is made', [
  ['none yet: attempt 0', none, ['runSandbox 0']],
  ['one that is ready is kept', { containers: [running('web')] }, []],
  ['the newest is not ready: attempt + 1', { sandboxes: [deadSandbox(3)] }, ['runSandbox 4 after s3']],
  ['the record knows a higher attempt', { ...none, record: { sandboxAttempt: 4 } }, ['runSandbox 5']],
  [
    'the runtime knows a higher attempt than the record',
    { sandboxes: [deadSandbox(6)], record: { sandboxAttempt: 2 } },
    ['runSandbox 7 after s6'],
  ],
  [
    'several ready: all are stopped first',
    { sandboxes: [sandbox(1), sandbox(0)] },
    ['stopSandbox s1', 'stopSandbox s0'],
  ],
  [
    'several ready, one of them being stopped',
    { sandboxes: [sandbox(1), sandbox(0)], underWay: [{ kind: 'stopSandbox', sandboxId: 's1' }] },
    ['stopSandbox s0'],
  ],
  [
    'the newest is being stopped, the other was: nothing is started in it',
    {
      sandboxes: [sandbox(1), deadSandbox(0)],
      underWay: [{ kind: 'stopSandbox', sandboxId: 's1' }],
    },
    [],
  ],
  [
    'an older one is ready, the newest is not',
    { sandboxes: [deadSandbox(1), sandbox(0)] },
    ['stopSandbox s0'],
  ],
  [
    'all stopped: the next attempt',
    { sandboxes: [deadSandbox(1), deadSandbox(0)] },
    ['runSandbox 2 after s1,s0'],
  ],
  [
    'the last one is being stopped, and is not ready any more',
    { sandboxes: [deadSandbox()], underWay: [{ kind: 'stopSandbox', sandboxId: 's0' }] },
    { steps: [], wait: 'ContainerCreating: the last sandbox is stopped first' },
  ],
  ['the pod has moved to the network of the host', { pod: onHost }, ['stopSandbox s0']],
  ['the pod has left the network of the host', { sandboxes: [hostSandbox] }, ['stopSandbox s0']],
  ['without an address', { sandboxes: [sandbox(0, { ips: [] })] }, ['stopSandbox s0']],
  [
    'on the network of the host no address is needed',
    { pod: onHost, sandboxes: [hostSandbox] },
    ['start web#0'],
  ],
  [
    'it is being made',
    { ...none, underWay: [{ kind: 'runSandbox', attempt: 0 }] },
    { steps: [], wait: 'ContainerCreating: the sandbox is being made' },
  ],
  [
    'a sandbox of a call that is not back yet is not used',
    { sandboxes: [sandbox(1), deadSandbox(0)], underWay: [{ kind: 'runSandbox', attempt: 1 }] },
    { steps: [], stage: 'starting', wait: 'ContainerCreating: the sandbox is being made' },
  ],
]);

table('what comes before a sandbox', [
  [
    'prepare',
    { ...none, isPrepared: false },
    { steps: ['prepare'], wait: 'ContainerCreating: folders, cgroup and devices are being prepared' },
  ],
  [
    'prepare is under way',
    { ...none, isPrepared: false, underWay: [{ kind: 'prepare' }] },
    { steps: [], wait: 'ContainerCreating: folders' },
  ],
  [
    'prepare does not wait for volumes',
    { ...none, isPrepared: false, volumes: { state: 'waiting', reason: '', message: 'v' } },
    ['prepare'],
  ],
  [
    'after a restart of the agent nothing is prepared when a sandbox is ready',
    { isPrepared: false, containers: [running('web')] },
    [],
  ],
  ['a dead sandbox is prepared for again', { sandboxes: [deadSandbox()], isPrepared: false }, ['prepare']],
  [
    'the network is not ready',
    { ...none, isNetworkReady: false, networkMessage: 'cni config uninitialized' },
    { steps: [], wait: 'NetworkNotReady: network is not ready: cni config uninitialized' },
  ],
  [
    'the network of the host is always ready',
    { ...none, pod: onHost, isNetworkReady: false },
    ['runSandbox 0'],
  ],
  ['containers of a ready sandbox do not wait for the network', { isNetworkReady: false }, ['start web#0']],
  [
    'volumes are waited for',
    { ...none, volumes: { state: 'waiting', reason: '', message: 'secret s' } },
    { steps: [], wait: 'ContainerCreating: its volumes are not ready: secret s' },
  ],
  [
    "the volumes' reason",
    { ...none, volumes: { state: 'waiting', reason: 'FailedMount', message: 'm', untilMs: later(5) } },
    { steps: [], wait: 'FailedMount: ', wakeMs: later(5) },
  ],
  [
    'the node has not accepted the pod',
    { ...none, record: { isAdmitted: false } },
    { steps: [], wait: 'ContainerCreating: the node has not accepted' },
  ],
  [
    'the first failure is retried after 1 s',
    { ...none, ...failure(1, 0) },
    { steps: [], wait: 'FailedCreatePodSandBox: no network', wakeMs: later(1) },
  ],
  ['… and then it is', { ...none, ...failure(1, 1) }, ['runSandbox 0']],
  ['the second after 2 s', { ...none, ...failure(2, 0) }, { wakeMs: later(2) }],
  ['the third after 4 s', { ...none, ...failure(3, 0) }, { wakeMs: later(4) }],
  ['at the latest after a minute', { ...none, ...failure(30, 0) }, { wakeMs: later(60) }],
  ['a failure does not keep images from being pulled', { ...none, ...failure(5, 0) }, { images: ['web#0'] }],
]);

const two = pod({ regular: [container('a'), container('b')] });
const withSidecar = pod({ init: [sidecar('proxy')] });
const dead = { sandboxes: [deadSandbox()] };

const replaced: readonly Case[] = [
  [
    'its containers run on and are stopped first',
    { ...dead, containers: [running('web')] },
    {
      steps: ['stop web-0 30s'],
      wait: 'ContainerCreating: containers of the last sandbox are stopped first: web',
    },
  ],
  [
    'all together',
    { ...dead, pod: two, containers: [running('a'), running('b')] },
    ['stop a-0 30s', 'stop b-0 30s'],
  ],
  [
    'sidecars after the others',
    { ...dead, pod: withSidecar, containers: [running('web'), running('proxy')] },
    ['stop web-0 30s'],
  ],
  [
    'sidecars then',
    { ...dead, pod: withSidecar, containers: [exited('web', 137), running('proxy')] },
    ['stop proxy-0 30s'],
  ],
  ['one of unknown state is stopped', { ...dead, containers: [unknown('web')] }, ['stop web-0 30s']],
  ['one that was only made is removed', { ...dead, containers: [created('web')] }, ['remove web-0']],
  ['then the new one', { ...dead, containers: [exited('web', 137)] }, ['runSandbox 1 after s0']],
  [
    'in it the container is started again',
    { sandboxes: [sandbox(1), deadSandbox(0)], containers: [exited('web', 137)] },
    ['start web#1'],
  ],
  [
    'init containers run again in it',
    {
      pod: pod({ init: [container('i')] }),
      sandboxes: [sandbox(1), deadSandbox(0)],
      containers: [exited('i', 0), exited('web', 137)],
    },
    ['start i#1'],
  ],
  [
    'a container that runs in the old one is not taken as running',
    { sandboxes: [sandbox(1), deadSandbox(0)], containers: [running('web')] },
    ['stop web-0 30s'],
  ],
  [
    'the old sandbox stays while it holds the last end',
    {
      sandboxes: [sandbox(1), deadSandbox(0)],
      containers: [exited('web', 137), running('web', 1, { sandboxId: 's1' })],
    },
    [],
  ],
  [
    'an old sandbox without containers is removed',
    { sandboxes: [sandbox(1), deadSandbox(0)], containers: [running('web', 1, { sandboxId: 's1' })] },
    ['removeSandbox s0'],
  ],
];

table('a sandbox is replaced', replaced);

table('with the policies Never and OnFailure', [
  [
    'Never, ended: no new sandbox',
    { pod: never, ...dead, containers: [exited('web', 137)] },
    { steps: ['release after s0'], stage: 'terminating' },
  ],
  [
    'Never, runs on in the dead sandbox: it is stopped',
    { pod: never, ...dead, containers: [running('web')] },
    ['stop web-0 30s'],
  ],
  [
    'OnFailure, ended with 0: no new sandbox',
    { pod: onFailure, ...dead, containers: [exited('web', 0)] },
    ['release after s0'],
  ],
  [
    'OnFailure, failed: a new one',
    { pod: onFailure, ...dead, containers: [exited('web', 1)] },
    ['runSandbox 1 after s0'],
  ],
  ['Always, ended with 0: a new one', { ...dead, containers: [exited('web', 0)] }, ['runSandbox 1 after s0']],
  ['Never, and nothing was made yet: a new one', { pod: never, ...dead }, ['runSandbox 1 after s0']],
  [
    'Never, init has failed: no new one',
    { pod: pod({ restartPolicy: 'Never', init: [container('i')] }), ...dead, containers: [exited('i', 1)] },
    ['release after s0'],
  ],
  [
    'Never, but the container has the policy Always',
    {
      pod: pod({ restartPolicy: 'Never', regular: [container('web', { restartPolicy: 'Always' })] }),
      ...dead,
      containers: [exited('web', 1)],
    },
    ['runSandbox 1 after s0'],
  ],
  [
    'OnFailure, in the new sandbox only what failed runs again',
    {
      pod: pod({ restartPolicy: 'OnFailure', regular: [container('a'), container('b')] }),
      sandboxes: [sandbox(1), deadSandbox(0)],
      containers: [exited('a', 0), exited('b', 1)],
    },
    ['start b#1'],
  ],
]);
