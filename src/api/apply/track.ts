import type { ApiObject, ObjectMeta } from '../kinds/index.ts';
import type { StructType } from '../schema/index.ts';
import type { Delta } from './compare.ts';
import { comparisonOf, withoutDelta } from './compare.ts';
import type { Entry } from './entries.ts';
import { capped, entryOf, inOrder, isBy, withFields } from './entries.ts';
import { contains, intersects, reaches, rootOf, union } from './field-set.ts';
import { sameJson } from './json.ts';
import { isReset, readEntries } from './read-entries.ts';
import { reconciled } from './reconcile.ts';
import { trackedPart } from './tracked.ts';
import type { Writer } from './types.ts';

/**
 * metadata.managedFields after a change other than apply: what the writer added or changed between `old` (undefined for
 * a new object) and `next` is the writer's alone, what is gone is nobody's. `given` is what the client sent as
 * managedFields: undefined means that it said nothing (the stored ones go on), an empty list forgets all managers, any
 * other replaces the stored ones first, unless it is malformed or came through a subresource. `now` is RFC 3339, UTC, in
 * whole seconds. An object whose managers were forgotten, or never known, gets new ones only by an apply.
 */
export function trackUpdate<T extends ApiObject>(
  type: StructType,
  old: T | undefined,
  next: T,
  given: ObjectMeta['managedFields'],
  writer: Writer,
  now: string,
): ObjectMeta['managedFields'] {
  const stored = old?.metadata?.managedFields ?? [];
  const entries = writer.subresource === '' ? replacedBy(given, stored) : stored;
  if (entries.length === 0 && old !== undefined) return undefined;
  const tracked = trackedPart(type);
  const delta = comparisonOf(tracked)(old ?? {}, next);
  const result = delta === undefined ? entries : afterUpdate(tracked, entries, delta, writer, now);
  return result.length === 0 ? undefined : result;
}

function replacedBy(given: ObjectMeta['managedFields'], stored: Entry[]): Entry[] {
  if (given === undefined || sameJson(given, stored)) return stored;
  return isReset(given) ? [] : (readEntries(given) ?? stored);
}

/** The entries after the writer has made a change. `type` is the tracked part of the object's. */
export function afterUpdate(
  type: StructType,
  entries: Entry[],
  delta: Delta,
  writer: Writer,
  now: string,
): Entry[] {
  return withTimeOnly(entries, delta, writer, now) ?? withFieldsMoved(type, entries, delta, writer, now);
}

/** With more of them the way that costs as much as all of them is the shorter one. */
const fewEntries = 20;

/** The usual case: a writer changes again what is its own already. Undefined when fields change hands. */
function withTimeOnly(
  entries: Entry[],
  { changed, removed }: Delta,
  writer: Writer,
  now: string,
): Entry[] | undefined {
  if (entries.length > fewEntries) return undefined; // each is held against all that has changed
  let own: Entry | undefined;
  for (const entry of entries) {
    const fields = entry.fieldsV1;
    if (reaches(fields, removed)) return undefined;
    if (!isBy(entry, writer)) {
      if (intersects(fields, changed)) return undefined;
    } else if (contains(fields, changed)) own = entry;
    else return undefined;
  }
  if (changed === undefined) return entries;
  if (own === undefined) return undefined;
  return own.time === now
    ? entries
    : inOrder([...entries.filter((entry) => entry !== own), { ...own, time: now }]);
}

function withFieldsMoved(
  type: StructType,
  entries: readonly Entry[],
  delta: Delta,
  writer: Writer,
  now: string,
): Entry[] {
  let own: Entry | undefined;
  const others: Entry[] = [];
  for (const entry of entries) {
    const isOwn = isBy(entry, writer);
    const fields = rootOf(entry.fieldsV1);
    const known = entry.apiVersion === writer.apiVersion ? reconciled(type, fields) : fields;
    const kept = withFields(entry, withoutDelta(known, isOwn ? { ...delta, changed: undefined } : delta));
    if (isOwn) own = kept;
    else if (kept !== undefined) others.push(kept);
  }
  const time = delta.changed === undefined ? own?.time : now;
  const mine = entryOf(writer, union(rootOf(own?.fieldsV1), delta.changed), time);
  return inOrder(capped(mine === undefined ? others : [...others, mine]));
}
