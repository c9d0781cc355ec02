import type { Field, ListType, MapType, StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { difference, differenceBelow, leaf } from './field-set.ts';
import { toGranularType } from './granular-type.ts';
import { getOwn, hasNoFields, isSameJson, toItems } from './json-values.ts';

/*
 * Computes what differs between two values of a type, in one walk over both. This runs on every write. So each
 * description is compiled once into closures, nothing is allocated where nothing differs, and sets are built only on the
 * way back from a difference.
 */

export interface Delta {
  /** Fields that were added or have another value, each listed by itself. */
  readonly changed: FieldSet | undefined;
  /** Fields that were removed; all that was below a member is removed with it. */
  readonly removed: FieldSet | undefined;
}

/** What remains in the set of a manager that has not made the change. */
export function withoutDelta(set: FieldSet | undefined, delta: Delta | undefined): FieldSet | undefined {
  return difference(differenceBelow(set, delta?.removed), delta?.changed);
}

/** An argument is undefined when the value is absent; null is a value. Returns undefined when nothing differs. */
export type Compare = (old: unknown, next: unknown) => Delta | undefined;

const leafChanged: Delta = { changed: leaf, removed: undefined };
const leafRemoved: Delta = { changed: undefined, removed: leaf };
const none: Readonly<Record<string, unknown>> = Object.freeze({});

/** Collects the differences of a value's parts. */
class DeltaBuilder {
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

  /** The delta of the parts, and of the value itself if it is new (`old` is undefined). */
  build(old: unknown): Delta | undefined {
    if (old === undefined) this.add('.', leafChanged);
    if (this.#changed === undefined && this.#removed === undefined) return undefined;
    return { changed: this.#changed, removed: this.#removed };
  }
}

const compareLeaf: Compare = (old, next) => {
  if (next === undefined) return leafRemoved;
  return old !== undefined && isSameJson(old, next) ? undefined : leafChanged;
};

const compiled = new WeakMap<Type, Compare>();

/** The function that compares values of a type; compiled once. */
export function comparatorFor(type: Type): Compare {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const parts = toGranularType(type);
  if (parts === undefined) return compareLeaf;
  if (parts.t === 'struct') return compileStruct(parts);
  const made = parts.t === 'map' ? compileMap(parts) : compileList(parts);
  compiled.set(type, made);
  return made;
}

interface FieldComparison {
  element: string;
  compare: Compare;
  /** The value of the field where it is absent in a struct that is present. */
  absent: unknown;
}

function compileStruct(type: StructType): Compare {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldComparison>();
  const compare: Compare = (old, next) => {
    const before = isRecord(old) ? old : none;
    const after = isRecord(next) ? next : none;
    if (next === undefined || (hasNoFields(before) && hasNoFields(after))) return compareLeaf(old, next);
    const builder = new DeltaBuilder();
    for (const name in after) {
      const a = before[name];
      const b = after[name];
      const field = a === b ? undefined : fields.get(name);
      if (field !== undefined) compareField(builder, field, old === undefined ? a : (a ?? field.absent), b);
    }
    for (const name in before) {
      const field = after[name] === undefined ? fields.get(name) : undefined;
      if (field !== undefined) compareField(builder, field, before[name], field.absent);
    }
    return builder.build(old);
  };
  compiled.set(type, compare); // before its fields, which may lead back to it
  for (const [name, field] of Object.entries(type.fields)) fields.set(name, compileField(name, field));
  return compare;
}

function compareField(
  builder: DeltaBuilder,
  { element, compare }: FieldComparison,
  old: unknown,
  next: unknown,
): void {
  const delta = compare(old, next);
  if (delta !== undefined) builder.add(element, delta);
}

/** In Go a required list or map that was not set is null, and a struct that is no pointer is always present. */
function compileField(name: string, field: Field): FieldComparison {
  const { t } = field.type;
  const isNull = field.required && (t === 'list' || t === 'map');
  const isThere = (t === 'struct' || t === 'ref') && (field.required || field.default !== undefined);
  const absent = isThere ? none : isNull ? null : undefined;
  return { element: `f:${name}`, compare: comparatorFor(field.type), absent };
}

function compileMap({ of }: MapType): Compare {
  const compare = comparatorFor(of);
  return (old, next) => {
    const before = isRecord(old) ? old : none;
    const after = isRecord(next) ? next : none;
    if (next === undefined || (hasNoFields(before) && hasNoFields(after))) return compareLeaf(old, next);
    const builder = new DeltaBuilder();
    for (const key in after) {
      const was = getOwn(before, key);
      const delta = was === after[key] ? undefined : compare(was, after[key]);
      if (delta !== undefined) builder.add(`f:${key}`, delta);
    }
    for (const key in before) {
      const delta = getOwn(after, key) === undefined ? compare(before[key], undefined) : undefined;
      if (delta !== undefined) builder.add(`f:${key}`, delta);
    }
    return builder.build(old);
  };
}

function compileList(type: ListType): Compare {
  const compare = comparatorFor(type.of);
  return (old, next) => {
    const before = toItems(old);
    const after = toItems(next);
    if (next === undefined || before.length + after.length === 0) return compareLeaf(old, next);
    if (old !== undefined && isSameJson(before, after)) return undefined;
    const builder = new DeltaBuilder();
    const was = byElement(type, before);
    const is = byElement(type, after);
    for (const [element, items] of is) compareItems(element, was.get(element) ?? [], items);
    for (const [element, items] of was) if (!is.has(element)) compareItems(element, items, []);
    return builder.build(old);

    function compareItems(element: string, a: readonly unknown[], b: readonly unknown[]) {
      const delta = a.length > 1 || b.length > 1 ? compareDuplicates(compare, a, b) : compare(a[0], b[0]);
      if (delta !== undefined) builder.add(element, delta);
    }
  };
}

/** Items by their element, normally one each. Items without an element are owned by no manager and left out. */
function byElement(type: ListType, items: readonly unknown[]): Map<string, unknown[]> {
  const elementOf = itemElement(type);
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const element = elementOf(item);
    const others = element === undefined ? undefined : groups.get(element);
    if (others !== undefined) others.push(item);
    else if (element !== undefined) groups.set(element, [item]);
  }
  return groups;
}

/** Items with the same element are owned together, as a whole. */
function compareDuplicates(
  compare: Compare,
  a: readonly unknown[],
  b: readonly unknown[],
): Delta | undefined {
  if (a.length > 1 && b.length > 1) return isSameJson(a, b) ? undefined : leafChanged;
  if (a.length > 1) {
    const changed = b.length === 0 ? undefined : compare(undefined, b[0])?.changed;
    return { changed, removed: leaf };
  }
  return { changed: leaf, removed: a.length === 0 ? undefined : leaf };
}
