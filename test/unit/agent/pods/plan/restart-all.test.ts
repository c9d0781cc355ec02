import { backoffKey } from '../../../../../src/agent/pods/plan/index.ts';
import type { Container } from './support.ts';
import {
  ago,
  container,
  created,
  exited,
  lastExit,
  later,
  nowMs,
  pod,
  running,
  sidecar,
  table,
} from './support.ts';

const rules = {
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
};
const asks = (more: Partial<Container> = {}) => container('web', { ...rules, ...more });
const three = pod({
  init: [container('i'), sidecar('s')],
  regular: [asks(), container('b')],
  ephemeralContainers: [{ name: 'e', image: 'app:1' }],
});
const forty2 = exited('web', 42);
const history = { ...lastExit(0, 42, { finishedMs: nowMs }), isHistory: true };
const others = {
  i: { made: { attempt: 0, restartCount: 0 }, lastExit: { ...lastExit(0, 0), isHistory: true } },
};

table('RestartAllContainers', [
  [
    'everything that runs is killed without its hook, everything that ended is removed',
    { pod: three, containers: [exited('i', 0), running('s'), running('b'), forty2] },
    ['remove i-0', 'stop s-0 0s without preStop', 'stop b-0 0s without preStop'],
  ],
  [
    'ephemeral ones go on',
    { pod: three, containers: [running('e'), forty2, running('b')] },
    ['stop b-0 0s without preStop'],
  ],
  ['one that was only made is removed', { pod: three, containers: [created('b'), forty2] }, ['remove b-0']],
  [
    'the one that asked for it is removed last',
    { pod: three, containers: [running('e'), forty2] },
    ['remove web-0'],
  ],
  ['what ended before is removed too', { pod: three, containers: [exited('b', 0), forty2] }, ['remove b-0']],
  [
    'older ends of the one that asked are removed before',
    { pod: three, containers: [exited('web', 42, 1), exited('web', 1, 0)] },
    ['remove web-0'],
  ],
  [
    'all wait for it',
    { pod: three, containers: [forty2, running('b')] },
    {
      waits: {
        i: 'RestartingAllContainers: container web exited with code 42',
        b: 'RestartingAllContainers: ',
        web: 'RestartingAllContainers: ',
      },
    },
  ],
  [
    'another code does not',
    { pod: three, containers: [running('s'), running('b'), running('e'), exited('web', 41)] },
    ['start web#1'],
  ],
  [
    'a code that the runtime made up does not',
    {
      pod: three,
      containers: [
        running('s'),
        running('b'),
        running('e'),
        exited('web', 42, 0, { exitCode: 255, reason: 'Unknown' }),
      ],
    },
    ['start web#1'],
  ],
  [
    'with Never too',
    { pod: pod({ restartPolicy: 'Never', regular: [asks()] }), containers: [forty2] },
    ['remove web-0'],
  ],
  [
    'an init container can ask for it',
    { pod: pod({ init: [container('i', rules)] }), containers: [exited('i', 42)] },
    ['remove i-0'],
  ],
  [
    '… with exit 0 too',
    {
      pod: pod({
        init: [
          container('i', {
            restartPolicyRules: [
              { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [0] } },
            ],
          }),
        ],
      }),
      containers: [exited('i', 0), running('web')],
    },
    ['stop web-0 0s without preStop'],
  ],
  [
    'a sidecar can ask for it',
    { pod: pod({ init: [sidecar('s', rules)] }), containers: [exited('s', 42), running('web')] },
    ['stop web-0 0s without preStop'],
  ],
  [
    'two that ask are removed together',
    { pod: pod({ regular: [asks(), container('b', rules)] }), containers: [forty2, exited('b', 42)] },
    ['remove web-0', 'remove b-0'],
  ],
  [
    'a start that is under way is waited for',
    {
      pod: three,
      containers: [forty2],
      underWay: [
        {
          kind: 'start',
          container: 'b',
          type: 'regular',
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
    'then it begins with the first init container',
    { pod: three, known: { ...others, e: { made: { attempt: 0, restartCount: 0 } } } },
    ['start i#1'],
  ],
  [
    'with Never the ended ones run again',
    {
      pod: pod({ restartPolicy: 'Never', regular: [asks(), container('b')] }),
      known: {
        web: { made: { attempt: 0, restartCount: 0 }, lastExit: { ...history, finishedMs: ago(99) } },
      },
    },
    ['start web#1'],
  ],
  [
    'the one that asked waits as after any end',
    {
      pod: pod({ regular: [asks()] }),
      known: {
        web: {
          made: { attempt: 0, restartCount: 0 },
          lastExit: history,
          backoff: { key: backoffKey(asks()), waitMs: 20_000, sinceMs: ago(5) },
        },
      },
    },
    { steps: [], waits: { web: 'CrashLoopBackOff: back-off 20s' }, wakeMs: later(20) },
  ],
  [
    'a pod that ends does not restart',
    {
      pod: three,
      containers: [forty2, running('b')],
      termination: { cause: 'deleted', graceSeconds: 9, sinceMs: nowMs },
    },
    ['stop b-0 9s'],
  ],
  [
    'the end of an older sandbox does not ask',
    { pod: pod({ regular: [asks()] }), containers: [exited('web', 42, 0, { sandboxId: 'other' })] },
    ['start web#1'],
  ],
]);
