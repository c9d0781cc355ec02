import type { Infer } from '../../schema/index.ts';
import {
  bool,
  field,
  fieldsV1,
  int64,
  list,
  map,
  required,
  string,
  struct,
  time,
} from '../../schema/index.ts';

const ownerReference = struct(
  'OwnerReference',
  {
    apiVersion: required(5, string, 'API version of the owner.'),
    kind: required(1, string, 'Kind of the owner.'),
    name: required(3, string, 'Name of the owner.'),
    uid: required(4, string, 'UID of the owner.'),
    controller: field(6, bool, 'Whether the owner is the managing controller.', { pointer: true }),
    blockOwnerDeletion: field(7, bool, 'Whether foreground deletion of the owner waits for this object.', {
      pointer: true,
    }),
  },
  { atomic: true },
);

const managedFieldsEntry = struct('ManagedFieldsEntry', {
  manager: field(1, string, 'Who manages these fields.'),
  operation: field(2, string, 'Apply or Update.'),
  apiVersion: field(3, string, 'Version of the kind that the fields belong to.'),
  time: field(4, time, 'When the entry was last changed.'),
  fieldsType: field(6, string, 'FieldsV1.'),
  fieldsV1: field(7, fieldsV1, 'The set of fields.'),
  subresource: field(8, string, 'The subresource that was used, if any.'),
});

/** Metadata of every stored object (specification, section 2.1). */
export const objectMeta = struct(
  'ObjectMeta',
  {
    name: field(1, string, 'Unique within its namespace; cannot be changed.'),
    generateName: field(2, string, 'Prefix of a generated name, used when no name is given.'),
    namespace: field(3, string, 'The space within which the name is unique; empty for cluster-scoped kinds.'),
    selfLink: field(4, string, 'Deprecated; no longer filled in.'),
    uid: field(5, string, 'Unique in time and space; given by the server.'),
    resourceVersion: field(6, string, 'Opaque version at which the object was last changed.'),
    generation: field(7, int64, 'Number of the desired state; grows when spec changes.'),
    creationTimestamp: field(8, time, 'When the object was created; given by the server.'),
    deletionTimestamp: field(9, time, 'When deletion was first asked for; given by the server.'),
    deletionGracePeriodSeconds: field(10, int64, 'Seconds until the object may be removed.', {
      pointer: true,
    }),
    labels: field(11, map(string), 'Keys and values to organise and select objects by.'),
    annotations: field(12, map(string), 'Keys and values for tools; not for selection.'),
    ownerReferences: field(
      13,
      list(ownerReference, { list: 'map', keys: ['uid'], patch: { merge: true, key: 'uid' } }),
      'Objects that this one depends on; when all are gone it is collected.',
    ),
    finalizers: field(
      14,
      list(string, { list: 'set', patch: { merge: true } }),
      'Must be empty before the object is removed; each is removed by the component that added it.',
    ),
    // an empty list differs from none: it forgets all managers
    managedFields: field(17, list(managedFieldsEntry), 'Which manager set which fields.', { pointer: true }),
  },
  { home: 'meta/v1' },
);

/** Metadata of a list. */
export const listMeta = struct(
  'ListMeta',
  {
    selfLink: field(1, string, 'Deprecated; no longer filled in.'),
    resourceVersion: field(2, string, 'Version at which the list was made.'),
    continue: field(3, string, 'Token for the next chunk; empty on the last.'),
    remainingItemCount: field(4, int64, 'Number of items after this chunk, where known.', { pointer: true }),
  },
  { home: 'meta/v1' },
);

export interface ObjectMeta extends Infer<typeof objectMeta> {}
export interface ListMeta extends Infer<typeof listMeta> {}
export interface OwnerReference extends Infer<typeof ownerReference> {}
