import type { Fields, StructType } from '../schema/index.ts';
import { field, string, struct } from '../schema/index.ts';
import type { ApiObject, BodyType, Kind } from './kind.ts';
import { objectMeta } from './meta/object-meta.ts';

const typeFields = {
  apiVersion: field(0, string, 'Group and version of the kind.'),
  kind: field(0, string, 'Name of the kind.'),
  metadata: field(1, objectMeta, 'Metadata of the object.', { default: {} }),
};

/** The description of a stored object: apiVersion, kind and metadata, and these fields. A `home` where other groups contain it. */
export function objectStruct<const F extends Fields>(
  name: string,
  fields: F,
  options: Pick<StructType, 'home'> = {},
): StructType<typeof typeFields & F> {
  return struct(name, { ...typeFields, ...fields }, options);
}

type Defaulted =
  | 'categories'
  | 'createOnUpdate'
  | 'shortNames'
  | 'unconditionalUpdate'
  | 'virtual'
  | 'warnings'
  | 'verbs'
  | 'subresources'
  | 'default'
  | 'prepare'
  | 'validate'
  | 'columns'
  | 'selectable'
  | 'nameRule';

/** Fills in the defaults of a kind's definition. */
export function defineKind<T extends ApiObject>(
  kind: Omit<Kind<T>, Defaulted> & Partial<Pick<Kind<T>, Defaulted>>,
): Kind<T> {
  return {
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    virtual: false,
    createOnUpdate: false,
    unconditionalUpdate: true,
    warnings: () => [],
    nameRule: 'subdomain',
    default: (object) => object,
    prepare: (next) => next,
    validate: () => [],
    columns: [],
    selectable: [],
    ...kind,
  };
}

/** Defines a request body that is not a kind with objects of its own. */
export function defineBody<T extends ApiObject>(
  body: Omit<BodyType<T>, 'default' | 'validate'> & Partial<Pick<BodyType<T>, 'default' | 'validate'>>,
): BodyType<T> {
  return { default: (object) => object, validate: () => [], ...body };
}
