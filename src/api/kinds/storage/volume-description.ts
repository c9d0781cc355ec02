import type { Infer } from '../../schema/index.ts';
import { field, list, map, quantity, string, struct, time } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';
import { nodeSelector } from '../pod-spec/affinity.ts';
import { pointer } from '../pod-spec/wire.ts';
import { persistentVolumeSources } from './volume-sources.ts';

/* The fields of a PersistentVolume. */

/** Unlike other references, it is filled in field by field. */
const claimReference = struct('ObjectReference', objectReference.fields, { home: 'core/v1' });

export const persistentVolumeSpec = struct(
  'PersistentVolumeSpec',
  {
    capacity: field(1, map(quantity), 'What the volume has: storage.'),
    ...persistentVolumeSources,
    accessModes: field(
      3,
      list(string),
      'How it can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod.',
    ),
    claimRef: field(4, claimReference, 'The claim that it is bound to, or kept for.'),
    persistentVolumeReclaimPolicy: field(
      5,
      string,
      'What becomes of it without its claim: Retain, Delete, Recycle.',
    ),
    storageClassName: field(6, string, 'Class of the storage; empty for none.'),
    mountOptions: field(7, list(string), 'Options of the mount.'),
    volumeMode: field(8, string, 'Filesystem or Block.', pointer),
    nodeAffinity: field(
      9,
      struct('VolumeNodeAffinity', { required: field(1, nodeSelector, 'Which nodes reach it.') }),
      'Which nodes reach it.',
    ),
    volumeAttributesClassName: field(10, string, "Class of the volume's attributes.", pointer),
  },
  { home: 'core/v1' },
);

const persistentVolumeStatus = struct('PersistentVolumeStatus', {
  phase: field(1, string, 'Pending, Available, Bound, Released or Failed.'),
  message: field(2, string, 'Why, for people.'),
  reason: field(3, string, 'Why, for programs.'),
  lastPhaseTransitionTime: field(4, time, 'When the phase last changed.'),
});

export const persistentVolumeRoot = objectStruct('PersistentVolume', {
  spec: field(2, persistentVolumeSpec, 'Desired state.', { default: {} }),
  status: field(3, persistentVolumeStatus, 'Observed state.', { default: {} }),
});

/** A piece of storage of the cluster. */
export interface PersistentVolume extends Infer<typeof persistentVolumeRoot> {}
export interface PersistentVolumeSpec extends Infer<typeof persistentVolumeSpec> {}
