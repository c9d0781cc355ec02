import type { Container } from './support.ts';
import { container, created, exited, lastExit, pod, running, table, unknown } from './support.ts';

const withPolicy = (restartPolicy: string) => pod({ restartPolicy });
const oneWith = (more: Partial<Container>, restartPolicy = 'Always') =>
  pod({ restartPolicy, regular: [container('web', more)] });
const rule = (operator: string, values: number[], action = 'Restart') => ({
  restartPolicyRules: [{ action, exitCodes: { operator, values } }],
});
const ended = { steps: ['stopSandbox s0'], stage: 'terminating' } as const;
const lost255 = exited('web', 255, 0, { reason: 'Unknown' });

table('the policy of the pod', [
  ['Always, exit 0', { containers: [exited('web', 0)] }, ['start web#1']],
  ['Always, exit 1', { containers: [exited('web', 1)] }, ['start web#1']],
  ['OnFailure, exit 0', { pod: withPolicy('OnFailure'), containers: [exited('web', 0)] }, ended],
  ['OnFailure, exit 1', { pod: withPolicy('OnFailure'), containers: [exited('web', 1)] }, ['start web#1']],
  [
    'OnFailure, OOMKilled with exit 0',
    { pod: withPolicy('OnFailure'), containers: [exited('web', 0, 0, { reason: 'OOMKilled' })] },
    ended,
  ],
  ['Never, exit 0', { pod: withPolicy('Never'), containers: [exited('web', 0)] }, ended],
  ['Never, exit 1', { pod: withPolicy('Never'), containers: [exited('web', 1)] }, ended],
  [
    'no policy is Always',
    { pod: { ...pod(), spec: { containers: [container('web')] } }, containers: [exited('web', 0)] },
    ['start web#1'],
  ],
]);

table("the container's own policy", [
  [
    'Always in a pod with Never',
    { pod: oneWith({ restartPolicy: 'Always' }, 'Never'), containers: [exited('web', 0)] },
    ['start web#1'],
  ],
  [
    'OnFailure in a pod with Never, exit 1',
    { pod: oneWith({ restartPolicy: 'OnFailure' }, 'Never'), containers: [exited('web', 1)] },
    ['start web#1'],
  ],
  [
    'OnFailure in a pod with Always, exit 0',
    { pod: oneWith({ restartPolicy: 'OnFailure' }), containers: [exited('web', 0)] },
    ended,
  ],
  [
    'Never in a pod with Always',
    { pod: oneWith({ restartPolicy: 'Never' }), containers: [exited('web', 1)] },
    ended,
  ],
  [
    'one that is done, one that runs',
    {
      pod: pod({ regular: [container('a', { restartPolicy: 'Never' }), container('b')] }),
      containers: [exited('a', 1), running('b')],
    },
    { steps: [], stage: 'running' },
  ],
]);

table('rules on exit codes', [
  [
    'In, listed',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('In', [42]) }), containers: [exited('web', 42)] },
    ['start web#1'],
  ],
  [
    'In, not listed',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('In', [42]) }), containers: [exited('web', 41)] },
    ended,
  ],
  [
    'NotIn, listed',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('NotIn', [42]) }), containers: [exited('web', 42)] },
    ended,
  ],
  [
    'NotIn, not listed',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('NotIn', [42]) }), containers: [exited('web', 41)] },
    ['start web#1'],
  ],
  [
    'exit 0 is a code like any other',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('In', [0]) }), containers: [exited('web', 0)] },
    ['start web#1'],
  ],
  [
    'the first that matches counts',
    {
      pod: oneWith({
        restartPolicy: 'Never',
        restartPolicyRules: [
          { action: 'Other', exitCodes: { operator: 'In', values: [1] } },
          { action: 'Restart', exitCodes: { operator: 'In', values: [1] } },
        ],
      }),
      containers: [exited('web', 1)],
    },
    ended,
  ],
  [
    'none matches: the own policy',
    {
      pod: oneWith({ restartPolicy: 'OnFailure', ...rule('In', [42]) }, 'Never'),
      containers: [exited('web', 1)],
    },
    ['start web#1'],
  ],
  [
    'none matches: the policy of the pod',
    { pod: oneWith(rule('In', [42]), 'Never'), containers: [exited('web', 1)] },
    ended,
  ],
  [
    'an unknown operator matches nothing',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('Like', [1]) }), containers: [exited('web', 1)] },
    ended,
  ],
  [
    'a rule without codes matches nothing',
    {
      pod: oneWith({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] }),
      containers: [exited('web', 1)],
    },
    ended,
  ],
]);

table('an end that the runtime did not see', [
  [
    '255 Unknown is no proof of a code: rules do not count',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('In', [255]) }), containers: [lost255] },
    ended,
  ],
  ['OnFailure: it may have failed', { pod: withPolicy('OnFailure'), containers: [lost255] }, ['start web#1']],
  ['Never: it is not started again', { pod: withPolicy('Never'), containers: [lost255] }, ended],
  ['Always: it is started again', { containers: [lost255] }, ['start web#1']],
  [
    '255 with another reason is a code',
    { pod: oneWith({ restartPolicy: 'Never', ...rule('In', [255]) }), containers: [exited('web', 255)] },
    ['start web#1'],
  ],
  [
    'a container that vanished, Always',
    { known: { web: { made: { attempt: 2, restartCount: 2 } } } },
    ['start web#3'],
  ],
  [
    'a container that vanished, OnFailure',
    { pod: withPolicy('OnFailure'), known: { web: { made: { attempt: 2, restartCount: 2 } } } },
    ['start web#3'],
  ],
  [
    'a container that vanished, Never',
    { pod: withPolicy('Never'), known: { web: { made: { attempt: 0, restartCount: 0 } } } },
    ended,
  ],
  [
    'an older end is not that of the one that vanished',
    {
      pod: withPolicy('OnFailure'),
      known: { web: { made: { attempt: 1, restartCount: 1 }, lastExit: lastExit(0, 0) } },
    },
    ['start web#2'],
  ],
  [
    'a removed one whose end is known, Never',
    {
      pod: withPolicy('Never'),
      known: { web: { made: { attempt: 0, restartCount: 0 }, lastExit: lastExit(0, 0) } },
    },
    ended,
  ],
  [
    'a removed one whose end is known, Always',
    { known: { web: { made: { attempt: 0, restartCount: 0 }, lastExit: lastExit(0, 0) } } },
    ['start web#1'],
  ],
]);

table('unfinished starts and old containers', [
  [
    'made and not started: removed',
    { containers: [created('web')] },
    { steps: ['remove web-0'], waits: { web: 'ContainerCreating: its container of attempt 0' } },
  ],
  [
    'made in a pod with Never: removed too',
    { pod: withPolicy('Never'), containers: [created('web')] },
    ['remove web-0'],
  ],
  ['then started with the next attempt', { known: { web: { attempt: 0 } } }, ['start web#1']],
  [
    'unknown: stopped first',
    { containers: [unknown('web')] },
    {
      steps: ['stop web-0 30s'],
      stop: { message: 'Container is in "unknown" state, try killing it before restart' },
    },
  ],
  [
    'unknown in a pod with Never: stopped',
    { pod: withPolicy('Never'), containers: [unknown('web')] },
    ['stop web-0 30s'],
  ],
  [
    'an older one that still runs is stopped',
    { containers: [running('web', 0), running('web', 1)] },
    ['stop web-0 30s'],
  ],
  [
    'nothing starts while an older one runs',
    { containers: [running('web', 0), exited('web', 1, 1)] },
    ['stop web-0 30s'],
  ],
  [
    'a container that the pod does not have is stopped',
    { containers: [running('web'), running('other')] },
    ['stop other-0 30s'],
  ],
  ['one dead container of a name is kept', { containers: [running('web', 1), exited('web', 1, 0)] }, []],
  [
    'older dead ones are removed',
    { containers: [running('web', 3), exited('web', 1, 2), exited('web', 1, 1), exited('web', 1, 0)] },
    ['remove web-1', 'remove web-0'],
  ],
  [
    'of several dead ones the newest is kept',
    { pod: withPolicy('Never'), containers: [exited('web', 1, 1), exited('web', 1, 0)] },
    ['stopSandbox s0', 'remove web-0'],
  ],
  [
    'a removal that failed waits',
    {
      containers: [running('web', 2), exited('web', 1, 1), exited('web', 1, 0)],
      cleanupFailure: { reason: 'r', message: '', atMs: 1e9, count: 1 },
    },
    [],
  ],
]);
