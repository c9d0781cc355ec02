import { container, exited, later, pod, running, sidecar, table } from './support.ts';

const two = pod({ regular: [container('a'), container('b')] });
const withInit = pod({ init: [container('i')], regular: [container('a'), container('b')] });
const none = { sandboxes: [] };

table('images', [
  [
    'all are asked for while the sandbox is made',
    { pod: withInit, ...none, images: { i: 'missing', a: 'missing', b: 'missing' } },
    { images: ['i#0', 'a#0', 'b#0'] },
  ],
  [
    'all are asked for while an init container runs',
    { pod: withInit, containers: [running('i')] },
    { images: ['a#0', 'b#0'] },
  ],
  [
    'in the order in which they are needed',
    { pod: pod({ init: [container('i')], ephemeralContainers: [{ name: 'e' }] }) },
    { images: ['e#0', 'i#0', 'web#0'] },
  ],
  ['of running ones none is asked for', { pod: two, containers: [running('a')] }, { images: ['b#0'] }],
  ['for the attempt that is to be', { containers: [exited('web', 1, 4)] }, { images: ['web#5'] }],
  [
    'not asked for yet: nothing starts',
    { images: { web: 'missing' } },
    { steps: [], waits: { web: 'ContainerCreating: its image has not been asked for yet' } },
  ],
  [
    'being pulled',
    { images: { web: 'pulling' } },
    { steps: [], waits: { web: 'ContainerCreating: pulling web' } },
  ],
  [
    'failed: its reason and next try',
    { images: { web: 'failed' } },
    { steps: [], waits: { web: 'ImagePullBackOff: no such image' }, wakeMs: later(20) },
  ],
  [
    'the ones after one that is being pulled wait',
    { pod: two, images: { a: 'pulling' } },
    { steps: [], waits: { b: 'ContainerCreating: container a is started first' } },
  ],
  ['the ones after one that failed go on', { pod: two, images: { a: 'failed' } }, ['start b#0']],
  [
    'an init container that failed holds up the pod',
    { pod: withInit, images: { i: 'failed' } },
    { steps: [], waits: { i: 'ImagePullBackOff', a: 'PodInitializing: init container i has not finished' } },
  ],
  [
    'of a later container the failure is known early',
    { pod: withInit, images: { b: 'failed' }, containers: [running('i')] },
    { waits: { b: 'ImagePullBackOff: no such image' } },
  ],
  [
    '… also before the sandbox',
    { pod: two, ...none, images: { b: 'failed' } },
    { steps: ['runSandbox 0'], waits: { b: 'ImagePullBackOff' } },
  ],
  [
    'a failed image does not keep the sandbox from being made',
    { ...none, images: { web: 'failed' } },
    ['runSandbox 0'],
  ],
]);

table('reasons', [
  ['without init containers', none, { waits: { web: 'ContainerCreating: the sandbox is being made' } }],
  [
    'with init containers',
    { pod: withInit, ...none },
    { waits: { i: 'PodInitializing: the sandbox is being made', a: 'PodInitializing: ' } },
  ],
  [
    'with sidecars',
    { pod: pod({ init: [sidecar('s')] }), ...none },
    { waits: { s: 'PodInitializing: ', web: 'PodInitializing: ' } },
  ],
  [
    'the volumes',
    { ...none, volumes: { state: 'waiting', reason: 'FailedMount', message: 'secret "s" not found' } },
    {
      wait: 'FailedMount: its volumes are not ready: secret "s" not found',
      waits: { web: 'ContainerCreating: its volumes are not ready: secret "s" not found' },
    },
  ],
  [
    'the volumes of a pod whose sandbox is there',
    { volumes: { state: 'waiting', reason: '', message: 'm', untilMs: later(3) } },
    {
      steps: [],
      wait: '',
      waits: { web: 'ContainerCreating: its volumes are not ready: m' },
      wakeMs: later(3),
    },
  ],
  [
    '… that cannot be had: the pod waits for that, whatever its containers are said to wait for',
    {
      containers: [exited('web', 1)],
      volumes: { state: 'waiting', reason: 'FailedMount', message: 'm', untilMs: later(90) },
    },
    {
      steps: [],
      wait: 'FailedMount: its volumes are not ready: m',
      waits: { web: 'ContainerCreating: its volumes are not ready: m' },
    },
  ],
  [
    '… while all of its containers run: it waits for nothing',
    {
      containers: [running('web')],
      volumes: { state: 'waiting', reason: 'FailedMount', message: 'm' },
    },
    { steps: [], wait: '' },
  ],
  [
    'the network',
    { ...none, isNetworkReady: false, networkMessage: 'n' },
    { waits: { web: 'ContainerCreating: network is not ready: n' } },
  ],
  [
    'the sandbox has failed',
    {
      ...none,
      sandboxFailure: { reason: 'FailedCreatePodSandBox', message: 'no ip', atMs: later(0), count: 1 },
    },
    { wait: 'FailedCreatePodSandBox: no ip', waits: { web: 'ContainerCreating: no ip' } },
  ],
  ['it is being started', {}, { waits: { web: 'ContainerCreating: it is being started' } }],
  [
    'another one is being started',
    { pod: two },
    { waits: { b: 'ContainerCreating: container a is started first' } },
  ],
  [
    'a start is under way: nothing else starts',
    {
      pod: two,
      underWay: [
        {
          kind: 'start',
          container: 'a',
          type: 'regular',
          sandboxId: 's0',
          attempt: 0,
          restartCount: 0,
          imageId: '',
        },
      ],
    },
    {
      steps: [],
      waits: {
        a: 'ContainerCreating: it is being started',
        b: 'ContainerCreating: container a is started first',
      },
    },
  ],
  [
    'one that runs has none',
    { pod: two, containers: [running('a'), running('b')] },
    { wait: '', waits: { a: '', b: '' } },
  ],
  [
    'one that has ended for good has none',
    {
      pod: pod({ restartPolicy: 'Never', regular: [container('a'), container('b')] }),
      containers: [exited('a', 0), running('b')],
    },
    { waits: { a: '' } },
  ],
]);

table('stages', [
  ['no sandbox', none, { stage: 'starting' }],
  ['init containers run', { pod: withInit, containers: [running('i')] }, { stage: 'starting' }],
  ['a regular one runs', { pod: two, containers: [running('a')] }, { stage: 'running' }],
  ['a regular one has ended', { containers: [exited('web', 1)] }, { stage: 'running' }],
  [
    'a regular one has run, says the record',
    { ...none, known: { web: { made: { attempt: 0, restartCount: 0 } } } },
    { stage: 'running' },
  ],
]);

const inAnHour = later(3600);
const early = { reason: 'r', message: 'm', atMs: inAnHour, count: 9 };

table('a clock that was set back', [
  ['a failed start is tried at once', { known: { web: { attempt: 0, failure: early } } }, ['start web#1']],
  ['a failed sandbox is tried at once', { sandboxes: [], sandboxFailure: early }, ['runSandbox 0']],
  [
    'a failed release is tried at once',
    {
      sandboxes: [],
      termination: { cause: 'deleted', graceSeconds: 5, sinceMs: later(0) },
      cleanupFailure: early,
    },
    ['release'],
  ],
  [
    'a failed stop is tried at once',
    {
      containers: [running('web')],
      termination: { cause: 'deleted', graceSeconds: 5, sinceMs: later(0) },
      stopFailures: new Map([['container web-0', early]]),
    },
    ['stop web-0 5s'],
  ],
  [
    'a grace is not longer for it',
    { containers: [running('web')], termination: { cause: 'deleted', graceSeconds: 5, sinceMs: inAnHour } },
    { steps: ['stop web-0 5s'], stop: { deadlineMs: later(5) } },
  ],
]);

table('a pod that the node has not accepted', [
  [
    'all wait for it',
    { record: { isAdmitted: false }, sandboxes: [] },
    { steps: [], images: [], waits: { web: 'ContainerCreating: the node has not accepted the pod yet' } },
  ],
  [
    'it can be deleted',
    {
      record: { isAdmitted: false },
      sandboxes: [],
      termination: { cause: 'deleted', graceSeconds: 5, sinceMs: 0 },
    },
    ['release'],
  ],
  [
    'what runs of it goes on',
    { record: { isAdmitted: false }, containers: [running('web')] },
    { steps: [], waits: { web: '' } },
  ],
]);
