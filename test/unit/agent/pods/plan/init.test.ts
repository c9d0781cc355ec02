import {
  container,
  created,
  exited,
  lastExit,
  later,
  pod,
  running,
  sidecar,
  table,
  unknown,
} from './support.ts';

const one = pod({ init: [container('i')] });
const three = pod({ init: [container('i'), container('j'), container('k')] });
const withPolicy = (restartPolicy: string) => pod({ init: [container('i')], restartPolicy });
const oom = { reason: 'OOMKilled' };

table('init containers', [
  ['the first starts', { pod: three }, ['start i#0']],
  [
    'the others wait for it',
    { pod: three },
    {
      waits: {
        i: 'PodInitializing: it is being started',
        j: 'PodInitializing: init container i has not finished',
        web: 'PodInitializing: ',
      },
    },
  ],
  ['while one runs nothing starts', { pod: three, containers: [running('i')] }, []],
  ['the next starts when it is done', { pod: three, containers: [exited('i', 0)] }, ['start j#0']],
  ['the last', { pod: three, containers: [exited('i', 0), exited('j', 0)] }, ['start k#0']],
  [
    'regular containers follow the last',
    { pod: three, containers: [exited('i', 0), exited('j', 0), exited('k', 0)] },
    ['start web#0'],
  ],
  ['removed ones are proved by a later one', { pod: three, containers: [exited('j', 0)] }, ['start k#0']],
  ['a later one that runs proves those before', { pod: three, containers: [running('k')] }, []],
  [
    'removed ones are known from the record',
    { pod: one, known: { i: { made: { attempt: 0, restartCount: 0 }, lastExit: lastExit(0, 0) } } },
    ['start web#0'],
  ],
  [
    'what the record knows of another sandbox does not count',
    {
      pod: one,
      known: {
        i: { made: { attempt: 0, restartCount: 0 }, lastExit: lastExit(0, 0, { sandboxId: 'other' }) },
      },
    },
    ['start i#1'],
  ],
  [
    'a regular container that runs proves that all are done',
    { pod: three, containers: [running('web')] },
    [],
  ],
  [
    'a regular container that ended in this sandbox proves it',
    { pod: one, containers: [exited('web', 1)] },
    ['start web#1'],
  ],
  [
    'one that ended in another sandbox does not',
    { pod: one, containers: [exited('web', 1, 0, { sandboxId: 'other' })] },
    ['start i#0'],
  ],
  [
    'one that was only made is an unfinished start: it is removed',
    { pod: one, containers: [created('i')] },
    ['remove i-0'],
  ],
  [
    '… unless its start is under way',
    {
      pod: one,
      containers: [created('i')],
      underWay: [
        {
          kind: 'start',
          container: 'i',
          type: 'init',
          sandboxId: 's0',
          attempt: 0,
          restartCount: 0,
          imageId: '',
        },
      ],
    },
    [],
  ],
  ['… and tried with the next attempt', { pod: one, known: { i: { attempt: 0 } } }, ['start i#1']],
  [
    'one of unknown state is stopped first',
    { pod: one, containers: [unknown('i')] },
    {
      steps: ['stop i-0 30s'],
      stop: { message: 'Init container is in "unknown" state, try killing it before restart' },
    },
  ],
  [
    'a changed image does not stop it',
    { pod: pod({ init: [container('i', { image: 'app:2' })] }), containers: [running('i')] },
    [],
  ],
]);

table('init containers that fail', [
  ['Always: it is started again', { pod: one, containers: [exited('i', 1)] }, ['start i#1']],
  [
    'OnFailure: it is started again',
    { pod: withPolicy('OnFailure'), containers: [exited('i', 1)] },
    ['start i#1'],
  ],
  [
    'Never: the pod ends',
    { pod: withPolicy('Never'), containers: [exited('i', 1)] },
    {
      steps: ['stopSandbox s0'],
      stage: 'terminating',
      wait: 'Terminating: the pod is complete: init container i has failed',
    },
  ],
  [
    'Never: the regular one is not started',
    { pod: withPolicy('Never'), containers: [exited('i', 1)] },
    { waits: { web: 'ContainerCreating: it is not started any more' } },
  ],
  ['Always: one that ended with 0 is done', { pod: one, containers: [exited('i', 0)] }, ['start web#0']],
  [
    'OOMKilled counts as failed with exit 0',
    { pod: one, containers: [exited('i', 0, 0, oom)] },
    ['start i#1'],
  ],
  [
    '… and ends the pod with Never',
    { pod: withPolicy('Never'), containers: [exited('i', 0, 0, oom)] },
    ['stopSandbox s0'],
  ],
  [
    '255 Unknown counts as failed',
    { pod: one, containers: [exited('i', 255, 0, { reason: 'Unknown' })] },
    ['start i#1'],
  ],
  [
    'its own policy Never ends the pod',
    { pod: pod({ init: [container('i', { restartPolicy: 'Never' })] }), containers: [exited('i', 1)] },
    ['stopSandbox s0'],
  ],
  [
    'its own policy OnFailure in a pod with Never',
    {
      pod: pod({ restartPolicy: 'Never', init: [container('i', { restartPolicy: 'OnFailure' })] }),
      containers: [exited('i', 1)],
    },
    ['start i#1'],
  ],
  [
    'a rule restarts it in a pod with Never',
    {
      pod: pod({
        restartPolicy: 'Never',
        init: [
          container('i', {
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          }),
        ],
      }),
      containers: [exited('i', 42)],
    },
    ['start i#1'],
  ],
  [
    'a failed one after its regular container was made counts no more',
    { pod: withPolicy('Never'), containers: [exited('i', 1), running('web')] },
    [],
  ],
  [
    'with sidecars before it the pod ends too',
    {
      pod: pod({ restartPolicy: 'Never', init: [sidecar('s'), container('i')] }),
      containers: [running('s'), exited('i', 1)],
    },
    ['stop s-0 30s'],
  ],
]);

const s = sidecar('s');
const probed = sidecar('s', { startupProbe: {} });
const mixed = pod({ init: [s, container('i')] });

table('sidecars', [
  ['the first starts', { pod: pod({ init: [s] }) }, ['start s#0']],
  [
    'the regular one follows when it runs',
    { pod: pod({ init: [s] }), containers: [running('s')] },
    ['start web#0'],
  ],
  [
    'while its start is under way nothing follows',
    {
      pod: pod({ init: [s] }),
      containers: [running('s')],
      underWay: [
        {
          kind: 'start',
          container: 's',
          type: 'sidecar',
          sandboxId: 's0',
          attempt: 0,
          restartCount: 0,
          imageId: '',
        },
      ],
    },
    [],
  ],
  [
    'with a startup probe it must pass',
    { pod: pod({ init: [probed] }), containers: [running('s')] },
    { steps: [], waits: { web: 'PodInitializing: sidecar s has not started yet' } },
  ],
  [
    '… has passed',
    { pod: pod({ init: [probed] }), containers: [running('s')], probes: { s: { startup: true } } },
    ['start web#0'],
  ],
  [
    '… has failed: it is stopped',
    { pod: pod({ init: [probed] }), containers: [running('s')], probes: { s: { startup: false } } },
    {
      steps: ['stop s-0 30s'],
      stop: { message: 'Init container s failed startup probe', restarts: true },
    },
  ],
  ['the next init container follows', { pod: mixed, containers: [running('s')] }, ['start i#0']],
  [
    'one that ended is started again while the next init runs',
    { pod: mixed, containers: [exited('s', 0), running('i')] },
    ['start s#1'],
  ],
  [
    'one that ended before the next init was made is started again',
    { pod: mixed, containers: [exited('s', 1)] },
    ['start s#1'],
  ],
  [
    'it is restarted in a pod with Never',
    { pod: pod({ init: [s], restartPolicy: 'Never' }), containers: [exited('s', 0), running('web')] },
    ['start s#1'],
  ],
  [
    'it is restarted while regular containers run',
    { pod: pod({ init: [s] }), containers: [exited('s', 1), running('web')] },
    ['start s#1'],
  ],
  [
    'one that is gone is made again while regular containers run',
    { pod: pod({ init: [s] }), containers: [running('web')] },
    ['start s#0'],
  ],
  [
    'its back-off does not hold up the regular ones',
    {
      pod: pod({ init: [s], regular: [container('web'), container('b')] }),
      containers: [exited('s', 1), running('web')],
      images: { s: 'pulling' },
    },
    ['start b#0'],
  ],
  [
    'its liveness failed',
    {
      pod: pod({ init: [s] }),
      containers: [running('s'), running('web')],
      probes: { s: { liveness: false } },
    },
    { steps: ['stop s-0 30s'], stop: { message: 'Init container s failed liveness probe' } },
  ],
  [
    'its image changed',
    { pod: pod({ init: [sidecar('s', { image: 'app:2' })] }), containers: [running('s'), running('web')] },
    { steps: ['stop s-0 30s'], stop: { message: 'Init container s definition changed' } },
  ],
  [
    'a restarted one does not stop the regular ones',
    { pod: pod({ init: [s] }), containers: [exited('s', 1), running('web')] },
    { stage: 'running' },
  ],
  [
    'its image fails: the reason',
    { pod: pod({ init: [s] }), images: { s: 'failed' } },
    { steps: [], waits: { s: 'ImagePullBackOff: no such image' }, wakeMs: later(20) },
  ],
]);
