import type { NameRule } from '../names/index.ts';
import type { StructType } from '../schema/index.ts';
import type { ListMeta, ObjectMeta } from './meta/object-meta.ts';

/** The fields of every object of the API. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

export interface ListOf<T> {
  apiVersion?: string;
  kind?: string;
  metadata: ListMeta;
  items: T[];
}

/** One reason why an object cannot be accepted (StatusCause). */
export interface Cause {
  reason: CauseReason;
  /** Path of the field, `spec.leaseDurationSeconds`. */
  field: string;
  message: string;
}
export type CauseReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotFound';

/** A column of the server-side table. Clients show `priority` 0 always, 1 only in wide output. */
export interface Column<T> {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean' | 'number';
  format?: string;
  description: string;
  priority: number;
  /** The cell; a `date` is the RFC 3339 time, shown as an age. */
  value(object: T, now: number): string | number | boolean | null;
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The metadata of an existing object that clients can change. */
export const changeableMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/**
 * A part of an object with a path of its own; it takes `fields` and `metadata` from the request and leaves the rest as
 * stored.
 */
export interface Subresource {
  name: string;
  verbs: readonly Verb[];
  /** The fields that a write through this path changes, at the top level or one below: `status`, `spec.ephemeralContainers`. */
  fields: readonly string[];
  /** The metadata that a write through this path changes too; by default none. */
  metadata?: readonly (typeof changeableMetadata)[number][];
  /** Whether a write through the main path changes the fields as well; otherwise it leaves them as they are. */
  shared?: boolean;
  /** The body of a create on this path, where it is not the object itself: `Binding` for pods/binding. */
  body?: BodyType;
  /** Requests are forwarded to the thing that the object represents and have no object as body: nodes/proxy. */
  connects?: true;
  /** Of one that is forwarded: what its query may say. Without a body it is answered with text: pods/log. */
  query?: BodyType;
  /** Shows and changes the object in the form of `body`: a Scale. */
  view?: PartView;
  /** The feature gate that it belongs to: while that is off, there is no such path. */
  gate?: string;
}

/** A part of an object in a form of its own. */
export interface PartView {
  /** What a client reads; its metadata says which object and which state of it. */
  show(object: ApiObject): ApiObject;
  /** The object with what a client wants of the part. */
  merge(object: ApiObject, wanted: ApiObject): ApiObject;
  /** Of a configuration that is applied, the fields of the object that it sets; without its metadata. */
  configure(configuration: ApiObject): ApiObject;
}

/** The kind without the subresources whose feature is off; the same object where it has none of these. */
export function withoutGated<K extends Pick<Kind, 'subresources'>>(
  kind: K,
  gates: Readonly<Record<string, boolean>>,
): K {
  const isServed = ({ gate }: Subresource) => gate === undefined || gates[gate] === true;
  if (kind.subresources.every(isServed)) return kind;
  return { ...kind, subresources: kind.subresources.filter(isServed) };
}

/** A type with a name and a wire format: it can be decoded, encoded and documented. */
export interface ObjectType {
  /** Without the group suffix: `coordination`; the core group is the empty string. */
  group: string;
  version: string;
  kind: string;
  root: StructType;
}

/** A type that can be sent as the body of a create. */
export interface BodyType<T extends ApiObject = ApiObject> extends ObjectType {
  /** One sentence for people (`kubectl explain`). */
  doc: string;
  /** Its values are secrets: an error about its body contains none of them. */
  sensitive?: true;
  /** What else a body may say as its apiVersion: older versions with the same fields. */
  olderApiVersions?: readonly string[];
  /** Fills in absent fields; called on every write before validation. Changes and returns `object`. */
  default(object: T): T;
  /** The causes why an object is invalid, beyond its field types; `old` is the stored one on update. */
  validate(next: T, old: T | undefined): readonly Cause[];
}

/**
 * The one description of a kind; all that the server and the client do with the kind is derived from it.
 * To serve a further kind is to add a file with such a description below `kinds/` and to run `npm run generate`.
 */
export interface Kind<T extends ApiObject = ApiObject> extends BodyType<T> {
  /** The plural in paths: `leases`. */
  resource: string;
  singular: string;
  shortNames: readonly string[];
  /** Names for several kinds at once: `all` in `kubectl get all`. */
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly Verb[];
  subresources: readonly Subresource[];
  nameRule: NameRule;
  /**
   * Nothing is stored: a create is answered by an operation (specification, section 1: virtual resources), a get and a list by
   * measuring.
   */
  virtual: boolean;
  /** Whether a PUT to a name that does not exist creates the object. */
  createOnUpdate: boolean;
  /** Whether a PUT without resourceVersion replaces the object unconditionally. */
  unconditionalUpdate: boolean;
  /**
   * What metadata.generation counts: changes of the spec, or of all fields but metadata. By default the spec where there is a
   * status beside it, and else nothing.
   */
  generation?: 'spec' | 'fields';
  /** Carries over or resets the fields that clients cannot change; called on every write before `default`. */
  prepare(next: T, old: T | undefined): T;
  /** Warnings for people about an object that is accepted; sent as Warning headers. */
  warnings(next: T, old: T | undefined): readonly string[];
  /** Columns after the name; a kind without any has the creation time. */
  columns: readonly Column<T>[];
  /** Fields for field selectors, in addition to metadata.name and metadata.namespace. */
  selectable: readonly SelectableField<T>[];
  /** Set when this kind is a view of the stored objects of another kind. */
  storedAs?: View<T>;
}

/** Converts objects of one kind to and from the kind in which they are stored. */
export interface View<T extends ApiObject> {
  kind: Kind;
  to(object: T): ApiObject;
  from(stored: ApiObject): T;
}

export interface SelectableField<T> {
  /** The path in a field selector: `status.phase`. */
  path: string;
  value(object: T): string;
  /** Whether lists find the objects by an index, because clients often select by one value. */
  indexed?: true;
}

/** Groups without the suffix: those of the reference that predate it, and our own. */
const plainGroups = [
  '',
  'apps',
  'autoscaling',
  'batch',
  'policy',
  'access.nodeward.io',
  'scheduling.nodeward.io',
];

/** `coordination.k8s.io`, or the empty string for the core group. */
export function groupName(group: string, suffix: string): string {
  return plainGroups.includes(group) ? group : `${group}.${suffix}`;
}

/** `coordination.k8s.io/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>, suffix: string): string {
  return kind.group === '' ? kind.version : `${groupName(kind.group, suffix)}/${kind.version}`;
}
