import type { NameRule } from '../names/index.ts';
import type { StructType } from '../schema/index.ts';
import type { ListMeta, ObjectMeta } from './meta/object-meta.ts';

/** What every object of the API has. */
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

/** A column of the server-side table. `priority` 0 is always shown, 1 only when wide output is asked for. */
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

/** What clients decide of the metadata of an object that exists. */
export const changeableMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/**
 * A part of an object with a path of its own; it takes `fields` and `metadata` from the request and leaves the rest as
 * stored.
 */
export interface Subresource {
  name: string;
  verbs: readonly Verb[];
  /** What a write through this path changes, top-level fields or fields of them: `status`, `spec.ephemeralContainers`. */
  fields: readonly string[];
  /** Which metadata a write through this path changes too; none where it does not say. */
  metadata?: readonly (typeof changeableMetadata)[number][];
  /** Whether a write through the main path changes the fields as well; otherwise it leaves them as they are. */
  shared?: boolean;
  /** What a create on this path takes, where that is not the object itself: `Binding` for pods/binding. */
  body?: BodyType;
  /** Requests on it are passed on to what the object stands for, and speak of no object: nodes/proxy. */
  connects?: true;
}

/** What has a name and a shape on the wire: it can be decoded, encoded and documented. */
export interface ObjectType {
  /** Without the group suffix: `coordination`; the core group is the empty string. */
  group: string;
  version: string;
  kind: string;
  root: StructType;
}

/** What can be sent as the body of a create. */
export interface BodyType<T extends ApiObject = ApiObject> extends ObjectType {
  /** What it is, in a sentence for people (`kubectl explain`). */
  doc: string;
  /** Values in it are secrets: an error about its body tells none of them. */
  sensitive?: true;
  /** Fills in what was left out; called on every write before validation. Changes and returns `object`. */
  default(object: T): T;
  /** Everything that is wrong with an object beyond its field types; `old` is the stored one on update. */
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
  /** Nothing is stored: a create is answered by an operation (specification, section 1: virtual resources). */
  virtual: boolean;
  /** Whether a PUT to a name that is not there creates the object. */
  createOnUpdate: boolean;
  /** Whether a PUT without resourceVersion replaces whatever is there. */
  unconditionalUpdate: boolean;
  /** Carries over or resets what clients do not decide; called on every write before `default`. */
  prepare(next: T, old: T | undefined): T;
  /** What people should know of an object that is accepted nevertheless; sent as Warning headers. */
  warnings(next: T, old: T | undefined): readonly string[];
  /** Columns after the name; where there are none, the creation time is shown. */
  columns: readonly Column<T>[];
  /** Fields for field selectors beside metadata.name and metadata.namespace. */
  selectable: readonly SelectableField<T>[];
  /** Set when objects of this kind are those of another one, shown in another way. */
  storedAs?: View<T>;
}

/** How objects of one kind are kept as another kind's. */
export interface View<T extends ApiObject> {
  kind: Kind;
  to(object: T): ApiObject;
  from(stored: ApiObject): T;
}

export interface SelectableField<T> {
  /** As it is written in a field selector: `status.phase`. */
  path: string;
  value(object: T): string;
  /** Often selected by one value: lists find the objects by an index. */
  indexed?: true;
}

/** Groups that go without the suffix: those of the reference that are older than it, and our own. */
const plainGroups = ['', 'policy', 'access.nodeward.io'];

/** `coordination.k8s.io`, or the empty string for the core group. */
export function groupName(group: string, suffix: string): string {
  return plainGroups.includes(group) ? group : `${group}.${suffix}`;
}

/** `coordination.k8s.io/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>, suffix: string): string {
  return kind.group === '' ? kind.version : `${groupName(kind.group, suffix)}/${kind.version}`;
}
