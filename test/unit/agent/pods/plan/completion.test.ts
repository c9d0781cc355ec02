import { container, deadSandbox, exited, pod, running, sidecar, table } from './support.ts';

const job = pod({ restartPolicy: 'Never' });
const withSidecars = pod({ restartPolicy: 'Never', init: [sidecar('s'), sidecar('t')] });
const two = pod({ restartPolicy: 'OnFailure', regular: [container('a'), container('b')] });
const dead = [deadSandbox()];
const released = { record: { isReleased: true } };

table('a pod is complete', [
  [
    'all have ended: the sandbox is stopped',
    { pod: job, containers: [exited('web', 0)] },
    { steps: ['stopSandbox s0'], stage: 'terminating' },
  ],
  [
    'then everything is released',
    { pod: job, sandboxes: dead, containers: [exited('web', 0)] },
    { steps: ['release after s0'], stage: 'terminating' },
  ],
  [
    'then it has ended, and is kept',
    { pod: job, sandboxes: dead, containers: [exited('web', 0)], ...released },
    { steps: [], stage: 'ended' },
  ],
  ['it is no termination', { pod: job, containers: [exited('web', 0)] }, { terminate: 'none' }],
  [
    'not while one runs',
    { pod: two, containers: [exited('a', 0), running('b')] },
    { steps: [], stage: 'running' },
  ],
  [
    'not while one is to be restarted',
    { pod: two, containers: [exited('a', 0), exited('b', 1)] },
    ['start b#1'],
  ],
  ['not while one was never started', { pod: two, containers: [exited('a', 0)] }, ['start b#0']],
  [
    'sidecars do not keep it',
    { pod: withSidecars, containers: [running('s'), running('t'), exited('web', 0)] },
    ['stop t-0 30s'],
  ],
  [
    'they are stopped in reverse order',
    { pod: withSidecars, containers: [running('s'), exited('t', 0), exited('web', 0)] },
    ['stop s-0 30s'],
  ],
  [
    'one that ended is not started again',
    { pod: withSidecars, containers: [exited('s', 1), exited('t', 1), exited('web', 0)] },
    ['stopSandbox s0'],
  ],
  [
    'an ephemeral one does not keep it',
    {
      pod: pod({ restartPolicy: 'Never', ephemeralContainers: [{ name: 'e' }] }),
      containers: [exited('web', 0), running('e')],
    },
    ['stop e-0 30s'],
  ],
  [
    'one that runs in a dead sandbox still counts',
    { pod: two, sandboxes: dead, containers: [exited('a', 0), running('b')] },
    ['stop b-0 30s'],
  ],
  ['with the policy Always never', { containers: [exited('web', 0)] }, ['start web#1']],
  [
    'its phase on the API says so: Succeeded',
    { pod: pod({ status: { phase: 'Succeeded' } }), sandboxes: [] },
    { steps: ['release'], stage: 'terminating' },
  ],
  [
    'its phase on the API says so: Failed',
    { pod: pod({ status: { phase: 'Failed' } }), containers: [running('web')] },
    ['stop web-0 30s'],
  ],
  [
    '… Failed, released',
    { pod: pod({ status: { phase: 'Failed' } }), sandboxes: [], ...released },
    { steps: [], stage: 'ended' },
  ],
  ['the phase Running says nothing', { pod: pod({ status: { phase: 'Running' } }) }, ['start web#0']],
  [
    'a manifest has no such phase',
    { pod: pod({ status: { phase: 'Failed' } }), origin: 'file' },
    ['start web#0'],
  ],
  ['what is released is never started again', { sandboxes: [], ...released }, { steps: [], stage: 'ended' }],
  [
    'containers that the runtime has forgotten stay done',
    { pod: job, sandboxes: [], known: { web: { made: { attempt: 0, restartCount: 0 } } } },
    ['release'],
  ],
  ['images are not asked for any more', { pod: job, containers: [exited('web', 0)] }, { images: [] }],
]);

const debug = pod({ ephemeralContainers: [{ name: 'e', image: 'app:1' }], init: [container('i')] });
const lone = pod({ ephemeralContainers: [{ name: 'e', image: 'app:1' }] });

table('ephemeral containers', [
  ['start before init containers', { pod: debug }, ['start e#0']],
  ['start in a pod that runs', { pod: lone, containers: [running('web')] }, ['start e#0']],
  [
    'need a sandbox',
    { pod: lone, sandboxes: [] },
    { steps: ['runSandbox 0'], waits: { e: 'ContainerCreating: ' } },
  ],
  ['are never restarted after a failure', { pod: lone, containers: [running('web'), exited('e', 1)] }, []],
  ['nor after a success', { pod: lone, containers: [running('web'), exited('e', 0)] }, []],
  [
    'nor when the runtime has forgotten them',
    { pod: lone, containers: [running('web')], known: { e: { made: { attempt: 0, restartCount: 0 } } } },
    [],
  ],
  [
    'nor in a new sandbox',
    { pod: lone, sandboxes: [deadSandbox()], containers: [exited('web', 1), exited('e', 0)] },
    { steps: ['runSandbox 1 after s0'], images: ['web#1'] },
  ],
  [
    'one that could not be made is tried again',
    { pod: lone, containers: [running('web')], known: { e: { attempt: 0 } } },
    ['start e#1'],
  ],
  ['its image does not hold up the others', { pod: lone, images: { e: 'pulling' } }, ['start web#0']],
  [
    'its image fails: the reason',
    { pod: lone, images: { e: 'failed' }, containers: [running('web')] },
    { steps: [], waits: { e: 'ImagePullBackOff: no such image' } },
  ],
  [
    'it starts alone: the others wait',
    { pod: lone },
    { waits: { web: 'ContainerCreating: container e is started first' } },
  ],
]);
