import type { Infer } from '../../schema/index.ts';
import { field, list, map, quantity, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { persistentVolumeClaimSpec } from '../pod-spec/claim-template.ts';
import { pointer } from '../pod-spec/wire.ts';

/* The fields of a PersistentVolumeClaim; those of its spec are also the template's of a pod's ephemeral volume. */

const claimCondition = struct('PersistentVolumeClaimCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastProbeTime: field(3, time, 'When the condition was last looked at.', { written: true }),
  lastTransitionTime: field(4, time, 'When the status last changed.', { written: true }),
  reason: field(5, string, 'Why, for programs.'),
  message: field(6, string, 'Why, for people.'),
});

const claimStatus = struct('PersistentVolumeClaimStatus', {
  phase: field(1, string, 'Pending, Bound or Lost.'),
  accessModes: field(2, list(string), 'Access modes of the volume that is bound.'),
  capacity: field(3, map(quantity), 'What the volume has.'),
  conditions: field(
    4,
    list(claimCondition, { list: 'map', keys: ['type'], patch: { merge: true, key: 'type' } }),
    'Conditions of the claim.',
  ),
  allocatedResources: field(5, map(quantity), 'What is being made of the volume, for an expansion.'),
  allocatedResourceStatuses: field(7, map(string), 'How far an expansion is, by resource.'),
  currentVolumeAttributesClassName: field(8, string, "Class of the volume's attributes now.", pointer),
  modifyVolumeStatus: field(
    9,
    struct('ModifyVolumeStatus', {
      targetVolumeAttributesClassName: field(1, string, 'The class that is being changed to.'),
      status: required(2, string, 'Pending, InProgress or Infeasible.'),
    }),
    'How far a change of the class is.',
  ),
});

export const claimRoot = objectStruct(
  'PersistentVolumeClaim',
  {
    spec: field(2, persistentVolumeClaimSpec, 'Desired state.', { default: {} }),
    status: field(3, claimStatus, 'Observed state.', { default: {} }),
  },
  { home: 'core/v1' },
);

/** A request for storage, which pods of its namespace name. */
export interface PersistentVolumeClaim extends Infer<typeof claimRoot> {}
export interface PersistentVolumeClaimSpec extends Infer<typeof persistentVolumeClaimSpec> {}
