import type { ApiObject } from '../kinds/index.ts';
import type { StructType } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { collectFields } from './collect-fields.ts';
import { comparatorFor, withoutDelta } from './compare.ts';
import { refuseConflicts } from './conflicts.ts';
import type { Entry } from './entries.ts';
import { createEntry, isEntryOf, sortEntries, withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, leaf, rootOf, sortElementsDeep, union, unionOf } from './field-set.ts';
import { isSameJson } from './json-values.ts';
import { findExemptFields, updateLastApplied } from './last-applied.ts';
import { mergeApplied } from './merge.ts';
import { normalizeValue } from './normalize.ts';
import { pruneUnmanaged } from './prune.ts';
import { reconcileFields } from './reconcile.ts';
import { updateEntries } from './track.ts';
import { toTrackedType } from './tracked-type.ts';
import type { Writer } from './types.ts';

/**
 * Server-side apply. Merges the configuration into the live object, removes what the manager applied before and no other
 * manager owns, and updates metadata.managedFields. `live` is undefined when there is no object yet. When nothing
 * changes, ownership included, the result is `live` itself, times included. Neither argument is changed; the result may
 * share parts with both. `now` is RFC 3339, UTC, in whole seconds. The configuration is of this type, has its scalars in
 * canonical form and carries no managedFields; zeros, nulls and empty values in it are owned.
 *
 * Throws ApplyConflictError on a conflict unless `force` is set, and PatchError (`failed`) when items of a list in the
 * configuration have the same key.
 */
export function applyConfiguration<T extends ApiObject>(
  type: StructType,
  live: T | undefined,
  configuration: T,
  writer: Writer,
  { force, now }: { force: boolean; now: string },
): T {
  const tracked = toTrackedType(type);
  const entries = live === undefined ? [] : listCurrentEntries(tracked, live, writer, now);
  const own = entries.find((entry) => isEntryOf(entry, writer));
  const applied = collectAppliedFields(tracked, configuration, own);
  const others = entries.filter((entry) => entry !== own);

  const bare = live === undefined ? undefined : withManagedFields(live, []);
  const whole = mergeApplied(type, bare, configuration);
  const last = own?.apiVersion === writer.apiVersion ? rootOf(own.fieldsV1) : undefined;
  const managed = unionOf([union(applied, identity), ...others.map(({ fieldsV1 }) => rootOf(fieldsV1))]);
  const object = normalizeValue(type, pruneUnmanaged(type, whole, last, managed));
  const delta = comparatorFor(tracked)(live ?? {}, object);
  // a zero in the configuration removes the field: that is a change of it
  const overruled = union(delta?.changed, intersection(delta?.removed, applied));
  if (!force) refuseConflicts(others, overruled, () => live && findExemptFields(type, live, writer));

  const kept = others.flatMap(
    (entry) => withFields(entry, withoutDelta(rootOf(entry.fieldsV1), delta)) ?? [],
  );
  const isSame = bare !== undefined && isSameJson(bare, object); // the order of a list is not in the delta
  const mine = ownEntry(own, applied, writer, isSame ? undefined : now) ?? [];
  const next = withFieldsFrom(live ?? configuration, object);
  const result = withManagedFields(next, sortEntries(kept.concat(mine)));
  const annotated = updateLastApplied(result, configuration, writer);
  return live !== undefined && isSameJson(annotated, live) ? live : annotated;
}

/** Every configuration has these fields, although no manager owns them. */
const identity: FieldSet = { 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': { 'f:name': {} } };

/** The fields that a configuration owns, in the reference's order, without `metadata` itself. */
function collectAppliedFields(
  tracked: StructType,
  configuration: ApiObject,
  before: Entry | undefined,
): FieldSet | undefined {
  const all = collectFields(tracked, configuration, { unique: true });
  const fields = difference(all, { 'f:metadata': leaf });
  if (fields === undefined) return undefined;
  // usually it is the same set as before, which is sorted already
  return before !== undefined && isSameJson(fields, before.fieldsV1)
    ? before.fieldsV1
    : sortElementsDeep(fields);
}

/** The entries of the live object. Where it has none, all its fields belong to the manager `before-first-apply`. */
function listCurrentEntries(tracked: StructType, live: ApiObject, writer: Writer, now: string): Entry[] {
  const stored = live.metadata?.managedFields ?? [];
  if (stored.length === 0) {
    const delta = comparatorFor(tracked)({}, live);
    const before: Writer = { ...writer, manager: 'before-first-apply', operation: 'Update' };
    return delta === undefined ? [] : updateEntries(tracked, [], delta, before, now);
  }
  return stored.flatMap((entry) => {
    const fields = rootOf(entry.fieldsV1);
    const isSame = entry.apiVersion === writer.apiVersion;
    return withFields(entry, isSame ? reconcileFields(tracked, fields) : fields) ?? [];
  });
}

/**
 * The manager's entry. As in the reference it keeps its time as long as the object stays the same, and has none when no
 * apply of this manager has changed the object.
 */
function ownEntry(
  own: Entry | undefined,
  applied: FieldSet | undefined,
  writer: Writer,
  changedAt: string | undefined,
): Entry | undefined {
  return createEntry(writer, applied, changedAt ?? own?.time);
}

function withManagedFields<T extends ApiObject>(object: T, managedFields: Entry[]): T {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  if (managedFields.length > 0) return { ...object, metadata: { ...metadata, managedFields } };
  return object.metadata === undefined ? object : { ...object, metadata };
}

/** `object` with the fields of `fields` in place of its own; keeps the static type. */
function withFieldsFrom<T extends ApiObject>(object: T, fields: unknown): T {
  const result = { ...object };
  const source = isRecord(fields) ? fields : {};
  for (const name of Object.keys(object)) if (!(name in source)) Reflect.deleteProperty(result, name);
  for (const name of Object.keys(source)) Reflect.set(result, name, source[name]);
  return result;
}
