import type { ObjectMeta } from '../kinds/index.ts';
import { compareText } from './byte-order.ts';
import type { FieldSet } from './field-set.ts';
import { rootOf, unionOf } from './field-set.ts';
import type { Writer } from './types.ts';

/* The entries of metadata.managedFields. */

export type Entry = NonNullable<ObjectMeta['managedFields']>[number];

/** The manager's name for a writer that gives none. */
const unnamed = 'unknown';

/** An entry of these fields; undefined when there are none. */
export function createEntry(
  writer: Writer,
  fields: FieldSet | undefined,
  time: string | undefined,
): Entry | undefined {
  if (fields === undefined) return undefined;
  const { manager, operation, apiVersion, subresource } = writer;
  return {
    manager: manager === '' ? unnamed : manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === '' ? {} : { subresource }),
  };
}

export function writerOf(entry: Entry): Writer {
  const { manager = unnamed, operation, apiVersion = '', subresource = '' } = entry;
  return { manager, operation: operation === 'Apply' ? 'Apply' : 'Update', apiVersion, subresource };
}

/** An apply of the same manager has one entry for all API versions of the kind, an update one for each. */
export function isEntryOf(entry: Entry, writer: Writer): boolean {
  return (
    (entry.manager ?? '') === (writer.manager === '' ? unnamed : writer.manager) &&
    entry.operation === writer.operation &&
    (entry.subresource ?? '') === writer.subresource &&
    (entry.operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** Equal for two entries exactly when they have the same manager, as written in them. */
export function identityOf({ manager = '', operation, apiVersion, subresource = '' }: Entry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** An entry with other fields; undefined when none are left. */
export function withFields(entry: Entry, fields: FieldSet | undefined): Entry | undefined {
  if (fields === undefined) return undefined;
  return fields === entry.fieldsV1 ? entry : { ...entry, fieldsV1: fields };
}

/** Sorts in the reference's order: applies before updates, then by time, oldest first. */
export function sortEntries(entries: readonly Entry[]): Entry[] {
  return entries.length < 2 ? [...entries] : [...entries].sort(compareEntries);
}

function compareEntries(a: Entry, b: Entry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time, b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** How many entries of updates are kept; beyond it, the oldest are merged into one for each API version. */
const updatesLimit = 10;
const ancient = 'ancient-changes';

/** Merges old entries until ten of updates remain, or more if there are more API versions; in no particular order. */
export function capUpdateEntries(entries: readonly Entry[]): readonly Entry[] {
  const updates = entries.filter(({ operation }) => operation === 'Update');
  if (updates.length <= updatesLimit) return entries;
  const left = new Set(entries);
  const buckets = new Map(updates.filter(isBucket).map((entry) => [entry.apiVersion, [entry]]));
  let surplus = updates.length - updatesLimit;
  for (const entry of sortEntries(updates)) {
    if (surplus === 0) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) buckets.set(entry.apiVersion, [entry]);
    if (bucket === undefined || bucket[0] === entry) continue;
    bucket.push(entry);
    surplus--;
  }
  for (const bucket of buckets.values()) {
    const [first, ...others] = bucket;
    if (first === undefined || others.length === 0) continue;
    for (const entry of bucket) left.delete(entry);
    left.add(mergeEntries(first, others));
  }
  return [...left];
}

function isBucket({ manager, subresource = '' }: Entry): boolean {
  return manager === ancient && subresource === '';
}

/** The union of their fields; time and API version are those of the latest. */
function mergeEntries(first: Entry, others: readonly Entry[]): Entry {
  const fields = unionOf([first, ...others].map(({ fieldsV1 }) => rootOf(fieldsV1))) ?? {};
  const latest = others.reduce((a, b) => (compareText(a.time, b.time) < 0 ? b : a), first);
  const { subresource: _, ...entry } = latest;
  return { ...entry, manager: ancient, fieldsV1: fields };
}
