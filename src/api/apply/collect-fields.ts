import { PatchError } from '../patch/index.ts';
import type { ListType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, setOf } from './field-set.ts';
import { formatStep } from './format-paths.ts';
import { toGranularType } from './granular-type.ts';
import { hasNoFields, toItems } from './json-values.ts';

/**
 * Every field that a value sets: scalars and atomic values, each key of a map, each item of a set or of a list of type
 * `map`, nulls and empty objects. Undefined when there are none. Items with the same key are a single member; with
 * `unique` they are refused by a PatchError that names the path.
 */
export function collectFields(
  type: Type,
  value: unknown,
  { unique }: { unique: boolean },
): FieldSet | undefined {
  return collectValue(type, value, unique, undefined);
}

/** Where a value is in the object; formatted as a path only for an error. */
interface Place {
  readonly parent: Place | undefined;
  readonly element: string;
}

/** The fields within a value. The caller decides whether the value itself is a member too. */
function collectValue(
  type: Type,
  value: unknown,
  unique: boolean,
  place: Place | undefined,
): FieldSet | undefined {
  const parts = toGranularType(type);
  if (parts === undefined) return leaf;
  if (parts.t === 'list') return collectItems(parts, toItems(value), unique, place);
  if (!isRecord(value)) return undefined;
  const found: [string, FieldSet][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name];
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    if (of === undefined || member === undefined) continue;
    const element = `f:${name}`;
    const inner = collectValue(of, member, unique, { parent: place, element });
    const isField = parts.t === 'map' || member === null || isEmptyObject(member);
    const part = isField ? withSelf(inner) : inner;
    if (part !== undefined) found.push([element, part]);
  }
  return setOf(false, found);
}

function isEmptyObject(value: unknown): boolean {
  return isRecord(value) && hasNoFields(value);
}

function withSelf(set: FieldSet | undefined): FieldSet {
  if (set === undefined || set === leaf) return leaf;
  return '.' in set ? set : { '.': leaf, ...set };
}

function collectItems(
  list: ListType,
  items: readonly unknown[],
  unique: boolean,
  place: Place | undefined,
): FieldSet | undefined {
  const elementOf = itemElement(list);
  const found = new Map<string, FieldSet>();
  for (const [index, item] of items.entries()) {
    const element = elementOf(item);
    const isDouble = element !== undefined && found.has(element);
    if (unique && isDouble) throw duplicateItemError(element, place);
    if (unique && element === undefined) throw unidentifiedItemError(list, index, place);
    if (element === undefined) continue;
    const inner = isDouble ? leaf : collectValue(list.of, item, unique, { parent: place, element });
    found.set(element, withSelf(inner));
  }
  return setOf(false, found);
}

function duplicateItemError(element: string, place: Place | undefined): PatchError {
  return new PatchError('failed', `${formatPlace(place)}: duplicate entries for key ${formatStep(element)}`);
}

function unidentifiedItemError(
  { list, keys = [] }: ListType,
  index: number,
  place: Place | undefined,
): PatchError {
  const lacks = list === 'map' ? `omits all key fields (${keys.join(', ')})` : 'is no scalar';
  return new PatchError('failed', `${formatPlace(place)}: element ${index}: the item ${lacks}`);
}

function formatPlace(place: Place | undefined): string {
  return place === undefined ? '' : `${formatPlace(place.parent)}${formatStep(place.element)}`;
}
