import type { Case } from './support.ts';
import { container, deadSandbox, exited, pod, running, sandbox, table } from './support.ts';

const two = pod({ regular: [container('a'), container('b')] });

const cases: readonly Case[] = [
  ['a new pod is prepared first', { sandboxes: [], isPrepared: false }, ['prepare']],
  ['a prepared pod gets its first sandbox', { sandboxes: [] }, ['runSandbox 0']],
  [
    'nothing starts before the sandbox',
    { sandboxes: [] },
    { wait: 'ContainerCreating: the sandbox is being made' },
  ],
  ['the container starts in the sandbox', {}, { steps: ['start web#0'], stage: 'starting' }],
  [
    'a running pod needs nothing',
    { containers: [running('web')] },
    { steps: [], stage: 'running', wakeMs: undefined },
  ],
  ['with a sandbox that is ready nothing is prepared again', { isPrepared: false }, ['start web#0']],
  ['containers start one after the other', { pod: two }, ['start a#0']],
  ['the second container starts after the first', { pod: two, containers: [running('a')] }, ['start b#0']],
  ['the first end is followed at once', { containers: [exited('web', 1)] }, ['start web#1']],
  ['a dead sandbox is replaced', { sandboxes: [deadSandbox()] }, ['runSandbox 1 after s0']],
  [
    'of two that are ready both are stopped',
    { sandboxes: [sandbox(1), sandbox(0)] },
    ['stopSandbox s1', 'stopSandbox s0'],
  ],
];

table('a simple pod', cases);
