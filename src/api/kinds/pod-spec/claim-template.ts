import { field, list, map, quantity, required, string, struct } from '../../schema/index.ts';
import { typedLocalObjectReference, typedObjectReference } from '../core/object-reference.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { pointer } from './wire.ts';

/* The claim that is made for an ephemeral volume. */

const volumeResourceRequirements = struct('VolumeResourceRequirements', {
  limits: field(1, map(quantity), 'Most that is wanted.'),
  requests: field(2, map(quantity), 'Least that is wanted.'),
});

export const persistentVolumeClaimSpec = struct('PersistentVolumeClaimSpec', {
  accessModes: field(1, list(string), 'ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod.'),
  selector: field(4, labelSelector, 'Which volumes may be bound, by their labels.'),
  resources: field(2, volumeResourceRequirements, 'How much storage is wanted.', { default: {} }),
  volumeName: field(3, string, 'The volume that is bound.'),
  storageClassName: field(5, string, 'Class of the storage.', pointer),
  volumeMode: field(6, string, 'Filesystem or Block.', pointer),
  dataSource: field(7, typedLocalObjectReference, 'What the volume is filled from, in the same namespace.'),
  dataSourceRef: field(8, typedObjectReference, 'What the volume is filled from, of any kind.'),
  volumeAttributesClassName: field(9, string, "Class of the volume's attributes.", pointer),
});

export const persistentVolumeClaimTemplate = struct('PersistentVolumeClaimTemplate', {
  metadata: field(1, objectMeta, 'Labels and annotations of the claim.', { default: {} }),
  spec: required(2, persistentVolumeClaimSpec, 'The claim.'),
});
