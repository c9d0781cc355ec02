import { isRecord, tryParseJson } from '../../base/index.ts';
import type { Field, ListType, StructType, Type } from '../schema/index.ts';
import { zeroOf } from '../schema/index.ts';
import { compareText, sortTexts } from './byte-order.ts';

/*
 * The elements of a set of fields: `f:name` is a field of a struct or a key of a map, `k:{"name":"web"}` the item of a
 * list with these keys, `v:"x"` an item of a set, `i:3` an item by its index.
 */

/** The element that identifies an item of a list; undefined when the item has no identity. */
export type ItemElement = (item: unknown) => string | undefined;

const compiled = new WeakMap<ListType, ItemElement>();

/** The function that computes the elements of a list's items, for a list of type `set` or `map`; compiled once. */
export function itemElement(list: ListType): ItemElement {
  const known = compiled.get(list);
  if (known !== undefined) return known;
  const made = list.list === 'map' ? keyElement(list) : setElement;
  compiled.set(list, made);
  return made;
}

function setElement(item: unknown): string | undefined {
  return typeof item === 'object' ? undefined : `v:${jsonText(item)}`;
}

/** A key that an item lacks has its default; one without a default is left out. At least one key must be present. */
function keyElement({ keys = [], of }: ListType): ItemElement {
  const fields = structOf(of)?.fields ?? {};
  const known = [...keys].sort().map((name) => {
    return { name, before: `${JSON.stringify(name)}:`, otherwise: absentKey(fields[name]) };
  });
  return (item) => {
    if (!isRecord(item)) return undefined;
    let text = '';
    for (const { name, before, otherwise } of known) {
      const value = item[name] ?? otherwise;
      if (value !== undefined) text += `${text === '' ? '' : ','}${before}${jsonText(value)}`;
    }
    return text === '' ? undefined : `k:{${text}}`;
  };
}

function absentKey(field: Field | undefined): unknown {
  if (field?.default !== undefined || !field?.required) return field?.default;
  const { t } = field.type;
  return t === 'list' || t === 'map' || t === 'struct' || t === 'ref' ? undefined : zeroOf(t);
}

/** The struct that a type is or refers to. */
function structOf(type: Type): StructType | undefined {
  if (type.t === 'ref') return type.resolve();
  return type.t === 'struct' ? type : undefined;
}

const plain = /^[\w\-./:]*$/;
const escaped = /[<>&\u2028\u2029]/g;

/** JSON as Go writes it: with `<`, `>`, `&`, U+2028 and U+2029 escaped. */
export function jsonText(value: unknown): string {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`;
  const text = JSON.stringify(value) ?? 'null';
  return text.replaceAll(escaped, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Sorts elements in the reference's order: fields, keys, values, indexes; numbers by value. */
export function sortElements(elements: readonly string[]): string[] {
  if (elements.every((element) => element.startsWith('f:'))) return sortTexts(elements);
  const decorated = elements.map((element) => ({ element, parts: partsOf(element) }));
  return decorated.sort((a, b) => compareParts(a.parts, b.parts)).map(({ element }) => element);
}

const ranks = 'fkvi';

/** The parts that elements are compared by, from left to right. */
function partsOf(element: string): readonly unknown[] {
  const rank = ranks.indexOf(element.charAt(0));
  const rest = element.slice(2);
  if (rank === 0) return [rank, rest];
  if (rank === 3) return [rank, Number(rest)];
  const value = tryParseJson(rest);
  return rank === 1 && isRecord(value) ? [rank, ...Object.entries(value).flat()] : [rank, value];
}

function compareParts(a: readonly unknown[], b: readonly unknown[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareScalars(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const kinds = ['number', 'string', 'boolean'];

function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === typeof b) return Number(a) - Number(b) || 0;
  return kinds.indexOf(typeof a) - kinds.indexOf(typeof b);
}
