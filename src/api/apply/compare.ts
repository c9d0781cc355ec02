import type { Field, ListType, MapType, StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { difference, differenceBelow, leaf } from './field-set.ts';
import { granular } from './granular.ts';
import { hasNoFields, itemsOf, own, sameJson } from './json.ts';

/*
 * What differs between two values of a type, in one walk over both. This runs on every write, so a description is
 * compiled once into closures, nothing is made where nothing differs, and paths come into being only on the way back.
 */

export interface Delta {
  /** Fields that were added or have another value, each of them. */
  readonly changed: FieldSet | undefined;
  /** Fields that are gone; with a member all that was below it is gone too. */
  readonly removed: FieldSet | undefined;
}

/** What is left to those who have not made the change. */
export function withoutDelta(set: FieldSet | undefined, delta: Delta | undefined): FieldSet | undefined {
  return difference(differenceBelow(set, delta?.removed), delta?.changed);
}

/** Undefined stands for a value that is not there, null for one that is; undefined comes back when nothing differs. */
export type Compare = (old: unknown, next: unknown) => Delta | undefined;

const leafChanged: Delta = { changed: leaf, removed: undefined };
const leafRemoved: Delta = { changed: undefined, removed: leaf };
const none: Readonly<Record<string, unknown>> = Object.freeze({});

/** Gathers the differences of a value's parts. */
class Found {
  #changed: Record<string, FieldSet> | undefined;
  #removed: Record<string, FieldSet> | undefined;

  add(element: string, delta: Delta): void {
    if (delta.changed !== undefined) {
      this.#changed ??= {};
      this.#changed[element] = delta.changed;
    }
    if (delta.removed !== undefined) {
      this.#removed ??= {};
      this.#removed[element] = delta.removed;
    }
  }

  /** Together with the value itself, if it is new. */
  with(old: unknown): Delta | undefined {
    if (old === undefined) this.add('.', leafChanged);
    if (this.#changed === undefined && this.#removed === undefined) return undefined;
    return { changed: this.#changed, removed: this.#removed };
  }
}

const compareLeaf: Compare = (old, next) => {
  if (next === undefined) return leafRemoved;
  return old !== undefined && sameJson(old, next) ? undefined : leafChanged;
};

const compiled = new WeakMap<Type, Compare>();

/** The comparison of values of a type; compiled once. */
export function comparisonOf(type: Type): Compare {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const parts = granular(type);
  if (parts === undefined) return compareLeaf;
  if (parts.t === 'struct') return structComparison(parts);
  const made = parts.t === 'map' ? mapComparison(parts) : listComparison(parts);
  compiled.set(type, made);
  return made;
}

interface FieldComparison {
  element: string;
  compare: Compare;
  /** What the field is where it is absent in a struct that is there. */
  absent: unknown;
}

function structComparison(type: StructType): Compare {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldComparison>();
  const compare: Compare = (old, next) => {
    const before = isRecord(old) ? old : none;
    const after = isRecord(next) ? next : none;
    if (next === undefined || (hasNoFields(before) && hasNoFields(after))) return compareLeaf(old, next);
    const found = new Found();
    for (const name in after) {
      const a = before[name];
      const b = after[name];
      const field = a === b ? undefined : fields.get(name);
      if (field !== undefined) compareField(found, field, old === undefined ? a : (a ?? field.absent), b);
    }
    for (const name in before) {
      const field = after[name] === undefined ? fields.get(name) : undefined;
      if (field !== undefined) compareField(found, field, before[name], field.absent);
    }
    return found.with(old);
  };
  compiled.set(type, compare); // before its fields, which may lead back to it
  for (const [name, field] of Object.entries(type.fields)) fields.set(name, fieldComparison(name, field));
  return compare;
}

function compareField(
  found: Found,
  { element, compare }: FieldComparison,
  old: unknown,
  next: unknown,
): void {
  const delta = compare(old, next);
  if (delta !== undefined) found.add(element, delta);
}

/** In Go a required list or map that nobody set is null, and a struct that is no pointer is always there. */
function fieldComparison(name: string, field: Field): FieldComparison {
  const { t } = field.type;
  const isNull = field.required && (t === 'list' || t === 'map');
  const isThere = (t === 'struct' || t === 'ref') && (field.required || field.default !== undefined);
  const absent = isThere ? none : isNull ? null : undefined;
  return { element: `f:${name}`, compare: comparisonOf(field.type), absent };
}

function mapComparison({ of }: MapType): Compare {
  const compare = comparisonOf(of);
  return (old, next) => {
    const before = isRecord(old) ? old : none;
    const after = isRecord(next) ? next : none;
    if (next === undefined || (hasNoFields(before) && hasNoFields(after))) return compareLeaf(old, next);
    const found = new Found();
    for (const key in after) {
      const was = own(before, key);
      const delta = was === after[key] ? undefined : compare(was, after[key]);
      if (delta !== undefined) found.add(`f:${key}`, delta);
    }
    for (const key in before) {
      const delta = own(after, key) === undefined ? compare(before[key], undefined) : undefined;
      if (delta !== undefined) found.add(`f:${key}`, delta);
    }
    return found.with(old);
  };
}

function listComparison(type: ListType): Compare {
  const compare = comparisonOf(type.of);
  return (old, next) => {
    const before = itemsOf(old);
    const after = itemsOf(next);
    if (next === undefined || before.length + after.length === 0) return compareLeaf(old, next);
    if (old !== undefined && sameJson(before, after)) return undefined;
    const found = new Found();
    const was = byElement(type, before);
    const is = byElement(type, after);
    for (const [element, items] of is) compareItems(element, was.get(element) ?? [], items);
    for (const [element, items] of was) if (!is.has(element)) compareItems(element, items, []);
    return found.with(old);

    function compareItems(element: string, a: readonly unknown[], b: readonly unknown[]) {
      const delta = a.length > 1 || b.length > 1 ? compareDoubles(compare, a, b) : compare(a[0], b[0]);
      if (delta !== undefined) found.add(element, delta);
    }
  };
}

/** Items by what leads to them, which should be one each; what nothing leads to is nobody's. */
function byElement(type: ListType, items: readonly unknown[]): Map<string, unknown[]> {
  const elementOf = itemElement(type);
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const element = elementOf(item);
    const others = element === undefined ? undefined : found.get(element);
    if (others !== undefined) others.push(item);
    else if (element !== undefined) found.set(element, [item]);
  }
  return found;
}

/** Items that cannot be told apart are owned together, as a whole. */
function compareDoubles(compare: Compare, a: readonly unknown[], b: readonly unknown[]): Delta | undefined {
  if (a.length > 1 && b.length > 1) return sameJson(a, b) ? undefined : leafChanged;
  if (a.length > 1) {
    const changed = b.length === 0 ? undefined : compare(undefined, b[0])?.changed;
    return { changed, removed: leaf };
  }
  return { changed: leaf, removed: a.length === 0 ? undefined : leaf };
}
