import type { ObjectMeta } from '../kinds/index.ts';
import { compareText } from './byte-order.ts';
import type { FieldSet } from './field-set.ts';
import { rootOf, unionOf } from './field-set.ts';
import type { Writer } from './types.ts';

/* The entries of metadata.managedFields. */

export type Entry = NonNullable<ObjectMeta['managedFields']>[number];

/** Who does not say who he is goes by this name. */
const unnamed = 'unknown';

/** An entry of these fields; undefined when there are none. */
export function entryOf(
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

/** Whose entry it is. */
export function writerOf(entry: Entry): Writer {
  const { manager = unnamed, operation, apiVersion = '', subresource = '' } = entry;
  return { manager, operation: operation === 'Apply' ? 'Apply' : 'Update', apiVersion, subresource };
}

/** Who applies is the same in every version of the kind; who updates is another in each. */
export function isBy(entry: Entry, writer: Writer): boolean {
  return (
    (entry.manager ?? '') === (writer.manager === '' ? unnamed : writer.manager) &&
    entry.operation === writer.operation &&
    (entry.subresource ?? '') === writer.subresource &&
    (entry.operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** The same for entries of the same manager, as it is written there, and for no others. */
export function identityOf({ manager = '', operation, apiVersion, subresource = '' }: Entry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** An entry with other fields; undefined when none are left. */
export function withFields(entry: Entry, fields: FieldSet | undefined): Entry | undefined {
  if (fields === undefined) return undefined;
  return fields === entry.fieldsV1 ? entry : { ...entry, fieldsV1: fields };
}

/** In the reference's order: who applies before who updates, then by time, oldest first. */
export function inOrder(entries: readonly Entry[]): Entry[] {
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

/** More entries of updates than these are not kept; what the oldest of them own is put together. */
const updatesLimit = 10;
const ancient = 'ancient-changes';

/** At most ten entries of updates, unless there are more versions than that; in no particular order. */
export function capped(entries: readonly Entry[]): readonly Entry[] {
  const updates = entries.filter(({ operation }) => operation === 'Update');
  if (updates.length <= updatesLimit) return entries;
  const left = new Set(entries);
  const buckets = new Map(updates.filter(isBucket).map((entry) => [entry.apiVersion, [entry]]));
  let surplus = updates.length - updatesLimit;
  for (const entry of inOrder(updates)) {
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
    left.add(together(first, others));
  }
  return [...left];
}

function isBucket({ manager, subresource = '' }: Entry): boolean {
  return manager === ancient && subresource === '';
}

/** In what else they say, the latest is followed. */
function together(first: Entry, others: readonly Entry[]): Entry {
  const fields = unionOf([first, ...others].map(({ fieldsV1 }) => rootOf(fieldsV1))) ?? {};
  const latest = others.reduce((a, b) => (compareText(a.time, b.time) < 0 ? b : a), first);
  const { subresource: _, ...entry } = latest;
  return { ...entry, manager: ancient, fieldsV1: fields };
}
