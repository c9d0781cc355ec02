import type { Termination } from '../../../../../src/agent/pods/plan/index.ts';
import { ago, deadSandbox, exited, pod, running, sandbox, table } from './support.ts';

const deletedPod = () =>
  pod({ metadata: { deletionTimestamp: '2025-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 } });
const ending = (cause: Termination['cause'] = 'deleted') => ({
  termination: { cause, graceSeconds: 30, sinceMs: ago(0) },
});
const dead = [deadSandbox()];
const released = { record: { isReleased: true } };

table('what is released and removed', [
  [
    'the sandbox is stopped when nothing runs',
    { ...ending(), containers: [exited('web', 143)] },
    { steps: ['stopSandbox s0'], stage: 'terminating' },
  ],
  [
    'all sandboxes',
    { ...ending(), sandboxes: [sandbox(1), sandbox(0)] },
    ['stopSandbox s1', 'stopSandbox s0'],
  ],
  [
    'while its network is being freed it is not stopped once more, and its containers go',
    {
      ...ending(),
      sandboxes: dead,
      containers: [exited('web', 143)],
      underWay: [{ kind: 'stopSandbox', sandboxId: 's0' }],
    },
    {
      steps: ['remove web-0'],
      stage: 'terminating',
      wait: 'Terminating: the pod ends (deleted); its sandbox',
    },
  ],
  [
    'then volumes, devices and cgroup, and what is in the runtime',
    { ...ending(), sandboxes: dead, containers: [exited('web', 143)] },
    { steps: ['release after s0', 'remove web-0'], stage: 'terminating' },
  ],
  [
    'the sandbox when its containers are removed',
    { ...ending(), sandboxes: dead },
    ['release after s0', 'removeSandbox s0'],
  ],
  [
    'what is released is not released again',
    {
      ...ending(),
      ...released,
      termination: { cause: 'deleted', graceSeconds: 1, sinceMs: 0 },
      sandboxes: dead,
    },
    ['removeSandbox s0'],
  ],
  [
    'a release under way is not repeated',
    { ...ending(), sandboxes: [], underWay: [{ kind: 'release' }] },
    { steps: [], stage: 'terminating' },
  ],
]);

const endedRecord = (cause: Termination['cause']) => ({
  record: { isReleased: true, termination: { cause, graceSeconds: 1, sinceMs: 0 } },
});

table('when the end is reached', [
  [
    'deleted: when nothing is left',
    { sandboxes: [], ...endedRecord('deleted') },
    { steps: [], stage: 'ended', wait: '' },
  ],
  ['gone: when nothing is left', { sandboxes: [], ...endedRecord('gone') }, { steps: [], stage: 'ended' }],
  [
    'gone: not while a container is left',
    { sandboxes: dead, containers: [exited('web', 0)], ...endedRecord('gone') },
    { steps: ['remove web-0'], stage: 'terminating' },
  ],
  [
    'failed: its containers and sandbox stay',
    { sandboxes: dead, containers: [exited('web', 0)], ...endedRecord('failed') },
    { steps: [], stage: 'ended' },
  ],
  [
    'failed: one dead container of a name stays',
    { sandboxes: dead, containers: [exited('web', 0, 1), exited('web', 0, 0)], ...endedRecord('failed') },
    { steps: ['remove web-0'], stage: 'ended' },
  ],
  [
    'failed: not before it is released',
    { sandboxes: dead, ...ending('failed') },
    { steps: ['release after s0'], stage: 'terminating' },
  ],
  [
    'what turns up afterwards is stopped',
    { containers: [running('web')], ...endedRecord('failed') },
    { steps: ['stop web-0 2s without preStop'], stage: 'terminating' },
  ],
  [
    'a failed pod that is deleted then is removed',
    { pod: deletedPod(), sandboxes: dead, containers: [exited('web', 0)], ...endedRecord('failed') },
    { steps: ['remove web-0'], stage: 'terminating' },
  ],
]);
