import type { ApiObject, ObjectMeta } from '../kinds/index.ts';
import type { StructType } from '../schema/index.ts';
import { withWritten } from '../schema/index.ts';
import type { Delta } from './compare.ts';
import { comparatorFor, withoutDelta } from './compare.ts';
import type { Entry } from './entries.ts';
import { capUpdateEntries, createEntry, isEntryOf, sortEntries, withFields } from './entries.ts';
import { contains, intersects, intersectsBelow, rootOf, union } from './field-set.ts';
import { isSameJson } from './json-values.ts';
import { isReset, readEntries } from './read-entries.ts';
import { reconcileFields } from './reconcile.ts';
import { toTrackedType } from './tracked-type.ts';
import type { Writer } from './types.ts';

/**
 * Computes metadata.managedFields after a change other than apply. The fields that the writer added or changed between
 * `old` (undefined for a new object) and `next` are owned by the writer alone; removed fields have no owner. `given` is
 * the managedFields that the client sent: undefined keeps the stored ones, an empty list forgets all managers, any other
 * replaces the stored ones first, unless it is malformed or came through a subresource. `now` is RFC 3339, UTC, in whole
 * seconds. An object whose managers were forgotten, or never known, gets new ones only by an apply.
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
  const entries = writer.subresource === '' ? resolveEntries(given, stored) : stored;
  if (entries.length === 0 && old !== undefined) return undefined;
  const tracked = toTrackedType(type);
  // who adds an item of a list owns what is always written in it, too
  const delta = comparatorFor(tracked)(withWritten(type, old ?? {}), withWritten(type, next));
  const result = delta === undefined ? entries : updateEntries(tracked, entries, delta, writer, now);
  return result.length === 0 ? undefined : result;
}

function resolveEntries(given: ObjectMeta['managedFields'], stored: Entry[]): Entry[] {
  if (given === undefined || isSameJson(given, stored)) return stored;
  return isReset(given) ? [] : (readEntries(given) ?? stored);
}

/** The entries after the writer has made a change. `type` is the tracked type of the object. */
export function updateEntries(
  type: StructType,
  entries: Entry[],
  delta: Delta,
  writer: Writer,
  now: string,
): Entry[] {
  return updateTimeOnly(entries, delta, writer, now) ?? moveFields(type, entries, delta, writer, now);
}

/** updateTimeOnly compares each entry with the whole change; with more entries, moveFields is cheaper. */
const maxEntriesForTimeOnly = 20;

/** The usual case: a writer changes again fields that it owns already. Undefined when ownership changes. */
function updateTimeOnly(
  entries: Entry[],
  { changed, removed }: Delta,
  writer: Writer,
  now: string,
): Entry[] | undefined {
  if (entries.length > maxEntriesForTimeOnly) return undefined;
  let own: Entry | undefined;
  for (const entry of entries) {
    const fields = entry.fieldsV1;
    if (intersectsBelow(fields, removed)) return undefined;
    if (!isEntryOf(entry, writer)) {
      if (intersects(fields, changed)) return undefined;
    } else if (contains(fields, changed)) own = entry;
    else return undefined;
  }
  if (changed === undefined) return entries;
  if (own === undefined) return undefined;
  return own.time === now
    ? entries
    : sortEntries([...entries.filter((entry) => entry !== own), { ...own, time: now }]);
}

function moveFields(
  type: StructType,
  entries: readonly Entry[],
  delta: Delta,
  writer: Writer,
  now: string,
): Entry[] {
  let own: Entry | undefined;
  const others: Entry[] = [];
  for (const entry of entries) {
    const isOwn = isEntryOf(entry, writer);
    const fields = rootOf(entry.fieldsV1);
    const known = entry.apiVersion === writer.apiVersion ? reconcileFields(type, fields) : fields;
    const kept = withFields(entry, withoutDelta(known, isOwn ? { ...delta, changed: undefined } : delta));
    if (isOwn) own = kept;
    else if (kept !== undefined) others.push(kept);
  }
  const time = delta.changed === undefined ? own?.time : now;
  const mine = createEntry(writer, union(rootOf(own?.fieldsV1), delta.changed), time);
  return sortEntries(capUpdateEntries(mine === undefined ? others : [...others, mine]));
}
