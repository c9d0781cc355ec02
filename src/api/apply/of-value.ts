import { PatchError } from '../patch/index.ts';
import type { ListType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, setOf } from './field-set.ts';
import { granular } from './granular.ts';
import { hasNoFields, itemsOf } from './json.ts';
import { stepOf } from './path.ts';

/**
 * Every field that a value says something about: scalars and what is atomic, each key of a map, each item of a set or
 * of a list that is a map, and what is null or an object with nothing in it. Undefined when there are none. Items that
 * cannot be told apart are a single member, or with `unique` refused by a PatchError that names the path.
 */
export function fieldsOf(type: Type, value: unknown, { unique }: { unique: boolean }): FieldSet | undefined {
  return inside(type, value, unique, undefined);
}

/** Where a value stands; turned into a path only for a report. */
interface Place {
  readonly parent: Place | undefined;
  readonly element: string;
}

/** Whether the value itself is one of its fields, beside what is in it, is for whoever holds it to say. */
function inside(type: Type, value: unknown, unique: boolean, place: Place | undefined): FieldSet | undefined {
  const parts = granular(type);
  if (parts === undefined) return leaf;
  if (parts.t === 'list') return inList(parts, itemsOf(value), unique, place);
  if (!isRecord(value)) return undefined;
  const found: [string, FieldSet][] = [];
  for (const name of Object.keys(value)) {
    const held = value[name];
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    if (of === undefined || held === undefined) continue;
    const element = `f:${name}`;
    const inner = inside(of, held, unique, { parent: place, element });
    const isField = parts.t === 'map' || held === null || isEmptyObject(held);
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

function inList(
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
    if (unique && isDouble) throw double(element, place);
    if (unique && element === undefined) throw unidentified(list, index, place);
    if (element === undefined) continue;
    const inner = isDouble ? leaf : inside(list.of, item, unique, { parent: place, element });
    found.set(element, withSelf(inner));
  }
  return setOf(false, found);
}

function double(element: string, place: Place | undefined): PatchError {
  return new PatchError('failed', `${pathOf(place)}: duplicate entries for key ${stepOf(element)}`);
}

function unidentified({ list, keys = [] }: ListType, index: number, place: Place | undefined): PatchError {
  const lacks = list === 'map' ? `omits all key fields (${keys.join(', ')})` : 'is no scalar';
  return new PatchError('failed', `${pathOf(place)}: element ${index}: the item ${lacks}`);
}

function pathOf(place: Place | undefined): string {
  return place === undefined ? '' : `${pathOf(place.parent)}${stepOf(place.element)}`;
}
