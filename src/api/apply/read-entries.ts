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
import { identityOf, inOrder, withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, ordered, rootOf, setOf, unionOf } from './field-set.ts';
import { hasNoFields } from './json.ts';

/*
 * What clients send as metadata.managedFields.
 */

/** Whether a client asks to forget all managers. */
export function isReset(given: readonly Entry[]): boolean {
  const [first] = given;
  return first === undefined || (given.length === 1 && hasNoFields(first));
}

/** More managers than an object has; the reference knows no such bound. */
const entriesLimit = 1000;

/** The entries with sets as they are written here; undefined when one of them cannot be read, or there are too many. */
export function readEntries(given: readonly Entry[]): Entry[] | undefined {
  if (given.length > entriesLimit) return undefined;
  const read = new Map<string, Entry>();
  for (const entry of given) {
    const { operation, apiVersion = '', fieldsType, fieldsV1 = {} } = entry;
    const isKnown = (operation === 'Apply' || operation === 'Update') && fieldsType === 'FieldsV1';
    const outcome = isKnown && apiVersion !== '' ? readSet(fieldsV1, 0) : undefined;
    if (outcome === undefined) return undefined;
    const { '.': _, ...inner } = outcome;
    const kept = withFields(entry, rootOf(ordered(inner)));
    const identity = identityOf(entry);
    if (kept !== undefined) read.set(identity, kept);
    else read.delete(identity);
  }
  return inOrder([...read.values()]);
}

/** Deeper than any type. */
const depthLimit = 100;

/** The set below an element; undefined when it is malformed or too deep. */
function readSet(set: unknown, depth: number): FieldSet | undefined {
  if (depth > depthLimit || !isRecord(set)) return undefined;
  const parts = new Map<string, FieldSet[]>();
  for (const name in set) {
    if (name === '.' || isOfTheFuture(name)) continue;
    const element = readElement(name);
    const part = readSet(set[name], depth + 1);
    if (element === undefined || part === undefined) return undefined;
    const same = parts.get(element);
    if (same === undefined) parts.set(element, [part]);
    else same.push(part);
  }
  return setOf('.' in set || parts.size === 0, united(parts)) ?? {};
}

/** What several spellings of an element lead to is one set. */
function* united(parts: ReadonlyMap<string, readonly FieldSet[]>): Iterable<[string, FieldSet]> {
  for (const [element, sets] of parts) yield [element, unionOf(sets) ?? leaf];
}

/** An element of a kind that is not known here is passed over, as in the reference. */
function isOfTheFuture(element: string): boolean {
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

/** What is wrong with metadata.managedFields, as the reference tells it, the first hundred causes. */
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

/** A name that is too long by far is not counted to its end. */
function characters(text: string): number {
  return text.length > 2 * maxManagerLength ? text.length : [...text].length;
}

/** What is wrong with the name of a manager that stands at `path`: at most 128 characters, all printable. */
export function managerCauses(manager: string, path: string): Cause[] {
  if (characters(manager) > maxManagerLength) return [tooLongValue(path, maxManagerLength)];
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
