import type { Infer } from '../../schema/index.ts';
import { field, required, string, struct } from '../../schema/index.ts';

/** A reference to any object; its writer decides which fields are set. */
export const objectReference = struct(
  'ObjectReference',
  {
    kind: field(1, string, 'Kind of the object.'),
    namespace: field(2, string, 'Namespace of the object.'),
    name: field(3, string, 'Name of the object.'),
    uid: field(4, string, 'UID of the object.'),
    apiVersion: field(5, string, 'API version of the object.'),
    resourceVersion: field(6, string, 'Version of the object that is meant.'),
    fieldPath: field(7, string, 'The part that is meant, spec.containers{name}.'),
  },
  { atomic: true, home: 'core/v1' },
);

/** An object of a known kind in the same namespace. */
export const localObjectReference = struct(
  'LocalObjectReference',
  { name: field(1, string, 'Name of the object.', { default: '' }) },
  { atomic: true, home: 'core/v1' },
);

/** A Secret of any namespace. */
export const secretReference = struct(
  'SecretReference',
  {
    name: field(1, string, 'Name of the Secret.'),
    namespace: field(2, string, 'Namespace of the Secret.'),
  },
  { atomic: true, home: 'core/v1' },
);

/** An object of a given kind in the same namespace. */
export const typedLocalObjectReference = struct(
  'TypedLocalObjectReference',
  {
    apiGroup: field(1, string, 'Group of the object; absent for the core group.', {
      pointer: true,
      written: true,
    }),
    kind: required(2, string, 'Kind of the object.'),
    name: required(3, string, 'Name of the object.'),
  },
  { atomic: true, home: 'core/v1' },
);

/** An object of a given kind, in another namespace if one is given. */
export const typedObjectReference = struct(
  'TypedObjectReference',
  {
    apiGroup: field(1, string, 'Group of the object; absent for the core group.', {
      pointer: true,
      written: true,
    }),
    kind: required(2, string, 'Kind of the object.'),
    name: required(3, string, 'Name of the object.'),
    namespace: field(4, string, 'Namespace of the object; needs a grant there.', { pointer: true }),
  },
  { home: 'core/v1' },
);

export interface ObjectReference extends Infer<typeof objectReference> {}
export interface LocalObjectReference extends Infer<typeof localObjectReference> {}
export interface SecretReference extends Infer<typeof secretReference> {}
export interface TypedLocalObjectReference extends Infer<typeof typedLocalObjectReference> {}
export interface TypedObjectReference extends Infer<typeof typedObjectReference> {}
