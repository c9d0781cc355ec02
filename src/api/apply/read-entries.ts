import { isRecord, tryParseJson } from '../../base/index.ts';
import type { Cause, ObjectMeta } from '../kinds/index.ts';
import {
  causesOf,
  invalidValue,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from '../kinds/index.ts';
import { compareText } from './byte-order.ts';
import { jsonText } from './element.ts';
import type { Entry } from './entries.ts';
import { identityOf, sortEntries, withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, rootOf, setOf, sortElementsDeep, unionOf } from './field-set.ts';
import { hasNoFields } from './json-values.ts';

/*
 * Reads and validates the metadata.managedFields that clients send.
 */

/** Whether a client asks to forget all managers. */
export function isReset(given: readonly Entry[]): boolean {
  const [first] = given;
  return first === undefined || (given.length === 1 && hasNoFields(first));
}

/** More managers than any real object has; the reference has no such limit. */
const entriesLimit = 1000;

/** The entries with their sets in canonical form; undefined when one of them is malformed, or there are too many. */
export function readEntries(given: readonly Entry[]): Entry[] | undefined {
  if (given.length > entriesLimit) return undefined;
  const read = new Map<string, Entry>();
  for (const entry of given) {
    const { operation, apiVersion = '', fieldsType, fieldsV1 = {} } = entry;
    const isKnown = (operation === 'Apply' || operation === 'Update') && fieldsType === 'FieldsV1';
    const outcome = isKnown && apiVersion !== '' ? readSet(fieldsV1, 0) : undefined;
    if (outcome === undefined) return undefined;
    const { '.': _, ...inner } = outcome;
    const kept = withFields(entry, rootOf(sortElementsDeep(inner)));
    const identity = identityOf(entry);
    if (kept !== undefined) read.set(identity, kept);
    else read.delete(identity);
  }
  return sortEntries([...read.values()]);
}

/** More than the depth of any type. */
const depthLimit = 100;

/** The set below an element; undefined when it is malformed or too deep. */
function readSet(set: unknown, depth: number): FieldSet | undefined {
  if (depth > depthLimit || !isRecord(set)) return undefined;
  const parts = new Map<string, FieldSet[]>();
  for (const name in set) {
    if (name === '.' || isUnknownElement(name)) continue;
    const element = readElement(name);
    const part = readSet(set[name], depth + 1);
    if (element === undefined || part === undefined) return undefined;
    const same = parts.get(element);
    if (same === undefined) parts.set(element, [part]);
    else same.push(part);
  }
  return setOf('.' in set || parts.size === 0, mergeSpellings(parts)) ?? {};
}

/** Merges the sets below several spellings of one element. */
function* mergeSpellings(parts: ReadonlyMap<string, readonly FieldSet[]>): Iterable<[string, FieldSet]> {
  for (const [element, sets] of parts) yield [element, unionOf(sets) ?? leaf];
}

/** Elements of unknown types, from later versions, are ignored, as in the reference. */
function isUnknownElement(element: string): boolean {
  return element.charAt(1) === ':' && !'fkvi'.includes(element.charAt(0));
}

/** An element in its canonical form; undefined when it is none. */
function readElement(element: string): string | undefined {
  if (element.startsWith('f:')) return element;
  const text = element.slice(2);
  if (element.startsWith('i:')) return /^-?\d{1,15}$/.test(text) ? `i:${Number(text)}` : undefined;
  const value = tryParseJson(text);
  if (value === undefined) return undefined;
  if (element.startsWith('v:')) return `v:${jsonText(value)}`;
  if (!element.startsWith('k:') || !isRecord(value)) return undefined;
  const keys = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return `k:{${keys.map(([name, of]) => `${JSON.stringify(name)}:${jsonText(of)}`).join(',')}}`;
}

const maxManagerLength = 128;
const maxSubresourceLength = 256;

/** The first hundred causes why metadata.managedFields is invalid, worded as in the reference. */
export function managedFieldsCauses(entries: ObjectMeta['managedFields'] = []): Cause[] {
  if (entries.length > entriesLimit)
    return [tooManyItems('metadata.managedFields', entries.length, entriesLimit)];
  return causesOf(entries, (entry, index) => entryCauses(entry, `metadata.managedFields[${index}]`));
}

function entryCauses(
  { operation = '', fieldsType = '', manager = '', subresource = '' }: Entry,
  path: string,
): Cause[] {
  const causes: Cause[] = [];
  if (operation === '') causes.push(requiredValue(`${path}.operation`, 'must not be empty'));
  else if (operation !== 'Apply' && operation !== 'Update')
    causes.push(unsupportedValue(`${path}.operation`, operation, ['Apply', 'Update']));
  if (fieldsType !== '' && fieldsType !== 'FieldsV1')
    causes.push(invalidValue(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
  causes.push(...managerCauses(manager, `${path}.manager`));
  if (Buffer.byteLength(subresource) > maxSubresourceLength)
    causes.push(tooLongValue(`${path}.subresource`, maxSubresourceLength));
  return causes;
}

/** The length in characters; of a text far beyond the limit, the length in UTF-16 units, which costs nothing. */
function countCharacters(text: string): number {
  return text.length > 2 * maxManagerLength ? text.length : [...text].length;
}

/** The causes why the name of a manager at `path` is invalid: it has at most 128 characters, all printable. */
export function managerCauses(manager: string, path: string): Cause[] {
  if (countCharacters(manager) > maxManagerLength) return [tooLongValue(path, maxManagerLength)];
  let position = 0;
  const causes: Cause[] = [];
  for (const character of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      causes.push(invalidValue(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return causes;
}
