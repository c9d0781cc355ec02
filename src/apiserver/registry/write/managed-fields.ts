import type { ApiObject, Cause, Kind, ObjectMeta } from '../../../api/index.ts';
import {
  apiVersionOf,
  isSameJson,
  managedFieldsCauses,
  trackUpdate,
  withWritten,
} from '../../../api/index.ts';
import type { WriteContext } from '../strategy.ts';
import { withOwnFields } from './own-fields.ts';
import type { Parts } from './resource-parts.ts';

/** Whose the fields are that no client has written, but a part of the control plane itself. */
const ownManager = 'nodeward';

type ManagedFields = ObjectMeta['managedFields'];

/** Whether a write is a server-side apply, or any other. */
export type WriteOperation = 'Apply' | 'Update';

/** A write, as far as it tells who manages which field. */
export interface ManagedWrite {
  /** `Apply` where `given` is all of them, settled already; `Update` where they follow from what changed. */
  operation: WriteOperation;
  /** What `managersSaid` found. */
  given: ManagedFields;
  subresource: string;
  context: WriteContext;
}

/** The identity under which a write is noted in metadata.managedFields, but for its operation. */
export function writerOf<T extends ApiObject>(
  { kind, groupSuffix }: Pick<Parts<T>, 'kind' | 'groupSuffix'>,
  { manager = ownManager }: WriteContext,
  subresource: string,
) {
  return { manager, apiVersion: apiVersionOf(kind, groupSuffix), subresource };
}

/** An object that is about to be stored, with its metadata.managedFields. */
export function withManagers<T extends ApiObject>(
  parts: Parts<T>,
  next: T,
  old: T | undefined,
  { operation, given, subresource, context }: ManagedWrite,
): T {
  if (operation === 'Apply') return withManagedFields(next, given);
  const { kind, seconds, clock } = parts;
  const writer = { ...writerOf(parts, context, subresource), operation };
  // what has a path of its own, such as the status that the server gives a new object, is not its creator's
  const own = old === undefined ? withOwnFields(kind, subresource, next, {}) : next;
  const tracked = trackUpdate(kind.root, old, own, given, writer, seconds.at(clock.now()));
  return withManagedFields(next, tracked);
}

function withManagedFields<T extends ApiObject>(object: T, managedFields: ManagedFields): T {
  const { metadata = {} } = object;
  const hasSome = managedFields !== undefined && managedFields.length > 0;
  if (hasSome) return { ...object, metadata: { ...metadata, managedFields } };
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _gone, ...others } = metadata;
  return { ...object, metadata: others };
}

/**
 * The managedFields of a write, where they are to take the place of the stored ones; undefined where a client says nothing
 * that is not known, and through a subresource, where nothing can be said.
 */
export function managersSaid(
  operation: WriteOperation,
  { managedFields }: ObjectMeta,
  old: ObjectMeta | undefined,
  subresource: string,
): ManagedFields {
  if (operation === 'Apply') return managedFields;
  const isNew = subresource === '' && managedFields !== undefined;
  return isNew && !isSameJson(managedFields, old?.managedFields) ? managedFields : undefined;
}

export function managersCauses(said: ManagedFields): Cause[] {
  return said === undefined || isReset(said) ? [] : managedFieldsCauses(said);
}

/** One empty entry is as an empty list: a client in Go, or protobuf, has no other way to say it. */
function isReset(given: NonNullable<ManagedFields>): boolean {
  return given.every((entry) => Object.keys(entry).length === 0) && given.length <= 1;
}

/**
 * Whether two objects are the same once they are written; that a manager's entry has another time is no change.
 */
export function isSame(kind: Kind, nextObject: ApiObject, oldObject: ApiObject): boolean {
  const next = withWritten(kind.root, nextObject);
  const old = withWritten(kind.root, oldObject);
  if (!sameFields(next, old) || !sameFields(old, next)) return false;
  const { managedFields: managers, resourceVersion: _version, ...meta } = next.metadata ?? {};
  const { managedFields: oldManagers, resourceVersion: _oldVersion, ...oldOthers } = old.metadata ?? {};
  return isSameJson(meta, oldOthers) && isSameJson(timeless(managers), timeless(oldManagers));
}

/** Whether all that one has beside its metadata is in the other. */
function sameFields(one: ApiObject, other: ApiObject): boolean {
  for (const name in one) {
    if (name !== 'metadata' && !isSameJson(Reflect.get(one, name), Reflect.get(other, name))) return false;
  }
  return true;
}

function timeless(managedFields: ManagedFields) {
  return managedFields?.map(({ time: _time, ...entry }) => entry);
}
