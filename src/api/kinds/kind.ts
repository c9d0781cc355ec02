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
  | 'FieldValueTypeInvalid';

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

export type Verb = 'create' | 'delete' | 'get' | 'list' | 'update' | 'watch';

/** A part of an object with a path of its own; it takes `fields` from the request and leaves the rest as stored. */
export interface Subresource {
  name: string;
  verbs: readonly Verb[];
  /** The top-level fields that a write through this path changes; a write through the main path does not. */
  fields: readonly string[];
}

/**
 * The one description of a kind; all that the server and the client do with the kind is derived from it.
 * To serve a further kind is to add a file with such a description and to name it in `kinds/index.ts`.
 */
export interface Kind<T extends ApiObject = ApiObject> {
  /** Without the group suffix: `coordination`; the core group is the empty string. */
  group: string;
  version: string;
  kind: string;
  /** The plural in paths: `leases`. */
  resource: string;
  singular: string;
  shortNames: readonly string[];
  namespaced: boolean;
  verbs: readonly Verb[];
  subresources: readonly Subresource[];
  root: StructType;
  nameRule: NameRule;
  /** Fills in what was left out; called on every write before validation. Changes and returns `object`. */
  default(object: T): T;
  /** Carries over or resets what clients do not decide; called on every write before `default`. */
  prepare(next: T, old: T | undefined): T;
  /** Everything that is wrong with an object beyond its field types; `old` is the stored one on update. */
  validate(next: T, old: T | undefined): readonly Cause[];
  /** Columns after the name; where there are none, the creation time is shown. */
  columns: readonly Column<T>[];
  /** Fields for field selectors beside metadata.name and metadata.namespace. */
  selectable: readonly SelectableField<T>[];
}

export interface SelectableField<T> {
  /** As it is written in a field selector: `status.phase`. */
  path: string;
  value(object: T): string;
}

/** `coordination.k8s.io`, or the empty string for the core group. */
export function groupName(group: string, suffix: string): string {
  return group === '' ? '' : `${group}.${suffix}`;
}

/** `coordination.k8s.io/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>, suffix: string): string {
  return kind.group === '' ? kind.version : `${groupName(kind.group, suffix)}/${kind.version}`;
}
