import type { Fields, StructType } from '../schema/index.ts';
import { field, string, struct } from '../schema/index.ts';
import type { ApiObject, Kind } from './kind.ts';
import { objectMeta } from './meta/object-meta.ts';

const typeFields = {
  apiVersion: field(0, string, 'Group and version of the kind.'),
  kind: field(0, string, 'Name of the kind.'),
  metadata: field(1, objectMeta, 'Metadata of the object.'),
};

/** The description of a stored object: apiVersion, kind and metadata, and the fields given. */
export function objectStruct<const F extends Fields>(
  name: string,
  fields: F,
): StructType<typeof typeFields & F> {
  return struct(name, { ...typeFields, ...fields });
}

type Defaulted =
  | 'shortNames'
  | 'verbs'
  | 'subresources'
  | 'default'
  | 'prepare'
  | 'validate'
  | 'columns'
  | 'selectable'
  | 'nameRule';

/** A kind with the usual answers where its description says nothing. */
export function defineKind<T extends ApiObject>(
  kind: Omit<Kind<T>, Defaulted> & Partial<Pick<Kind<T>, Defaulted>>,
): Kind<T> {
  return {
    shortNames: [],
    verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
    subresources: [],
    nameRule: 'subdomain',
    default: (object) => object,
    prepare: (next) => next,
    validate: () => [],
    columns: [],
    selectable: [],
    ...kind,
  };
}
