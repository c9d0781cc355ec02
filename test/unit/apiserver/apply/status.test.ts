import { tell } from './story.ts';
import { node } from './subjects.ts';

await tell('a path of its own for the status', node, {
  'a new node has the status that it comes with, but nobody owns it': [
    {
      by: 'A',
      applies: '{spec: {externalID: one}, status: {phase: Running}}',
      ends: 'created',
      object: 'status: {phase: Running}',
      owners: { A: ['.spec.externalID'] },
    },
  ],
  'on the main path a status is passed over, and not owned': [
    { by: 'A', applies: 'spec: {externalID: one}' },
    {
      by: 'A',
      applies: '{spec: {externalID: one}, status: {phase: Running}}',
      ends: 'unchanged',
      object: 'status: null',
      owners: { A: ['.spec.externalID'] },
    },
  ],
  'on the path of the status a spec is passed over, and not owned': [
    { by: 'A', applies: 'spec: {externalID: one}' },
    {
      by: 'B',
      through: 'status',
      applies: '{spec: {externalID: ""}, status: {phase: Running}}',
      ends: 'changed',
      object: '{spec: {externalID: one}, status: {phase: Running}}',
      owners: { A: ['.spec.externalID'], 'B through status': ['.status.phase'] },
    },
  ],
  'one name on both paths is two managers': [
    { by: 'A', applies: 'spec: {externalID: one}' },
    {
      by: 'A',
      through: 'status',
      applies: 'status: {phase: Running}',
      owners: { A: ['.spec.externalID'], 'A through status': ['.status.phase'] },
    },
    { by: 'A', applies: 'spec: {externalID: one}', ends: 'unchanged' },
    { by: 'A', applies: '{}', object: '{spec: null, status: {phase: Running}}' },
  ],
  'nothing is created through it': [
    { by: 'A', through: 'status', applies: 'status: {phase: Running}', ends: 'not found' },
  ],
  'a conflict tells through which path the other came': [
    { by: 'A', applies: '{}' },
    { by: 'A', through: 'status', applies: 'status: {phase: Running}' },
    {
      by: 'B',
      through: 'status',
      applies: 'status: {phase: Pending}',
      ends: 'refused',
      naming: ['conflict with "A" with subresource "status": .status.phase'],
    },
    { by: 'B', through: 'status', applies: 'status: {phase: Pending}', force: true, ends: 'changed' },
  ],
  'an update through it is noted with it': [
    { by: 'A', creates: 'metadata: {labels: {tier: front}}' },
    {
      by: 'B',
      through: 'status',
      'merge-patches': 'status: {phase: Running}',
      ends: 'changed',
      owners: { 'A updates': ['.metadata.labels.tier'], 'B updates through status': ['.status.phase'] },
    },
  ],
});
