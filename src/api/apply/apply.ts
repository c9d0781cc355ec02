import type { ApiObject } from '../kinds/index.ts';
import type { StructType } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { comparisonOf, withoutDelta } from './compare.ts';
import { refuseConflicts } from './conflicts.ts';
import type { Entry } from './entries.ts';
import { entryOf, inOrder, isBy, withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, leaf, ordered, rootOf, union, unionOf } from './field-set.ts';
import { sameJson } from './json.ts';
import { forgivenFields, withLastApplied } from './last-applied.ts';
import { merged } from './merge.ts';
import { fieldsOf } from './of-value.ts';
import { pruned } from './prune.ts';
import { reconciled } from './reconcile.ts';
import { settled } from './settle.ts';
import { afterUpdate } from './track.ts';
import { trackedPart } from './tracked.ts';
import type { Writer } from './types.ts';

/**
 * Server-side apply: the live object with the configuration merged into it, without what the manager applied before and
 * nobody else owns, and with its metadata.managedFields brought up to date. `live` is undefined when there is no object
 * yet. When nothing changes, not even who owns what, the result is `live` itself, times included. Neither argument is
 * changed; the result may share parts with both. `now` is RFC 3339, UTC, in whole seconds. The configuration is of this
 * type, has its scalars in canonical form and carries no managedFields; zeros, nulls and empty values in it are owned.
 *
 * Throws ApplyConflictError unless `force` is set, and PatchError (`failed`) when items of a list in the configuration
 * cannot be told apart.
 */
export function applyConfiguration<T extends ApiObject>(
  type: StructType,
  live: T | undefined,
  configuration: T,
  writer: Writer,
  { force, now }: { force: boolean; now: string },
): T {
  const tracked = trackedPart(type);
  const entries = live === undefined ? [] : entriesBefore(tracked, live, writer, now);
  const own = entries.find((entry) => isBy(entry, writer));
  const applied = appliedFields(tracked, configuration, own);
  const others = entries.filter((entry) => entry !== own);

  const bare = live === undefined ? undefined : withManagedFields(live, []);
  const whole = merged(type, bare, configuration);
  const last = own?.apiVersion === writer.apiVersion ? rootOf(own.fieldsV1) : undefined;
  const managed = unionOf([union(applied, identity), ...others.map(({ fieldsV1 }) => rootOf(fieldsV1))]);
  const object = settled(type, pruned(type, whole, last, managed));
  const delta = comparisonOf(tracked)(live ?? {}, object);
  // what a zero takes away is changed by it
  const overruled = union(delta?.changed, intersection(delta?.removed, applied));
  if (!force) refuseConflicts(others, overruled, () => live && forgivenFields(type, live, writer));

  const kept = others.flatMap(
    (entry) => withFields(entry, withoutDelta(rootOf(entry.fieldsV1), delta)) ?? [],
  );
  const isSame = bare !== undefined && sameJson(bare, object); // the order of a list is not in the delta
  const mine = ownEntry(own, applied, writer, isSame ? undefined : now) ?? [];
  const next = withFieldsFrom(live ?? configuration, object);
  const result = withManagedFields(next, inOrder(kept.concat(mine)));
  const noted = withLastApplied(result, configuration, writer);
  return live !== undefined && sameJson(noted, live) ? live : noted;
}

/** Whoever applies an object has applied these, although nobody owns them. */
const identity: FieldSet = { 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': { 'f:name': {} } };

/** What a configuration owns, in order; that it has metadata at all says nothing. */
function appliedFields(
  tracked: StructType,
  configuration: ApiObject,
  before: Entry | undefined,
): FieldSet | undefined {
  const all = fieldsOf(tracked, configuration, { unique: true });
  const fields = difference(all, { 'f:metadata': leaf });
  if (fields === undefined) return undefined;
  // usually it is what it was, and that is in order
  return before !== undefined && sameJson(fields, before.fieldsV1) ? before.fieldsV1 : ordered(fields);
}

/** The entries as they are now; of an object that nobody has managed yet, all is owned by one manager. */
function entriesBefore(tracked: StructType, live: ApiObject, writer: Writer, now: string): Entry[] {
  const stored = live.metadata?.managedFields ?? [];
  if (stored.length === 0) {
    const delta = comparisonOf(tracked)({}, live);
    const before: Writer = { ...writer, manager: 'before-first-apply', operation: 'Update' };
    return delta === undefined ? [] : afterUpdate(tracked, [], delta, before, now);
  }
  return stored.flatMap((entry) => {
    const fields = rootOf(entry.fieldsV1);
    const isSame = entry.apiVersion === writer.apiVersion;
    return withFields(entry, isSame ? reconciled(tracked, fields) : fields) ?? [];
  });
}

/**
 * The manager's entry. As in the reference it keeps its time as long as the object stays the same, and has none when the
 * manager has only ever said what was there already.
 */
function ownEntry(
  own: Entry | undefined,
  applied: FieldSet | undefined,
  writer: Writer,
  changedAt: string | undefined,
): Entry | undefined {
  return entryOf(writer, applied, changedAt ?? own?.time);
}

function withManagedFields<T extends ApiObject>(object: T, managedFields: Entry[]): T {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  if (managedFields.length > 0) return { ...object, metadata: { ...metadata, managedFields } };
  return object.metadata === undefined ? object : { ...object, metadata };
}

/** An object of the same type with other fields. */
function withFieldsFrom<T extends ApiObject>(object: T, fields: unknown): T {
  const result = { ...object };
  const source = isRecord(fields) ? fields : {};
  for (const name of Object.keys(object)) if (!(name in source)) Reflect.deleteProperty(result, name);
  for (const name of Object.keys(source)) Reflect.set(result, name, source[name]);
  return result;
}
