import type { ListType, StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { collectFields } from './collect-fields.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { childAt, contains, difference, intersection, isMember, leaf, setOf, union } from './field-set.ts';
import { findTypeBelow, toGranularType } from './granular-type.ts';
import { hasNoFields } from './json-values.ts';

/**
 * Removes from the merged object what the manager applied before (`last`) and no manager owns now. `managed` is the union
 * of what this manager applies now and what all others own. Fields that no manager owns and that this manager never
 * applied stay, unless they are in a field or an item that is removed as a whole. Returns the object itself where nothing
 * is removed.
 *
 * A struct that is itself a member of `managed` stays, as `{}`, when its last field is removed; the reference loses it.
 *
 * First all that was applied before is removed. Then what is managed is put back, then what was removed along with it
 * although the manager had not applied it.
 */
export function pruneUnmanaged(
  type: StructType,
  object: unknown,
  last: FieldSet | undefined,
  managed: FieldSet | undefined,
): unknown {
  if (contains(managed, last)) return object;
  const withParents = (set: FieldSet | undefined) => withParentFields(type, set);
  const fieldsIn = (value: unknown) => withParents(collectFields(type, value, { unique: false }));
  const before = withParents(last);
  const all = fieldsIn(object);
  const left = fieldsIn(withoutFields(type, object, before));
  const unowned = difference(all, union(left, withParents(managed)));
  const afterOwned = fieldsIn(withoutFields(type, object, unowned));
  return withoutFields(type, object, intersection(difference(all, afterOwned), before), managed);
}

/**
 * Adds to the set the struct fields that its members are below: `spec` and `spec.containers` for
 * `spec.containers[name="web"].image`. Keys of maps and items of lists are members only if the set has them as such.
 */
export function withParentFields(type: Type, set: FieldSet | undefined): FieldSet | undefined {
  return set && addParentFields(type, set, '.' in set);
}

function addParentFields(type: Type | undefined, set: FieldSet, self: boolean): FieldSet | undefined {
  const parts = type && toGranularType(type);
  if (parts === undefined) return set;
  const inner: [string, FieldSet][] = [];
  for (const element in set) {
    const part = element === '.' ? undefined : childAt(set, element);
    if (part === undefined) continue;
    const of = findTypeBelow(parts, element);
    const isMemberNow = (parts.t === 'struct' && of !== undefined) || '.' in part;
    inner.push([element, addParentFields(of, part, isMemberNow) ?? leaf]);
  }
  return setOf(self, inner);
}

/**
 * The value without the fields of the set and all that is below them. A list or an object that becomes empty is null;
 * atomic values are removed as a whole. But a struct that `managed` has as a member stays, as `{}`.
 */
function withoutFields(type: Type, value: unknown, set: FieldSet | undefined, managed?: FieldSet): unknown {
  if (set === undefined || hasNoFields(set)) return value;
  const parts = toGranularType(type);
  if (parts === undefined) return typeof value === 'object' ? null : value;
  if (parts.t === 'list') return Array.isArray(value) ? withoutItems(parts, value, set, managed) : null;
  if (!isRecord(value)) return null;
  const left: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    const element = `f:${name}`;
    const gone = childAt(set, element);
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    if (gone === undefined || of === undefined) left.push([name, value[name]]);
    else if (!isMember(gone))
      left.push([name, withoutFields(of, value[name], gone, managed && childAt(managed, element))]);
  }
  if (left.length > 0) return Object.fromEntries(left);
  return parts.t === 'struct' && managed !== undefined && isMember(managed) ? {} : null;
}

function withoutItems(
  list: ListType,
  items: readonly unknown[],
  set: FieldSet,
  managed: FieldSet | undefined,
): unknown {
  const elementOf = itemElement(list);
  const left: unknown[] = [];
  for (const item of items) {
    const element = elementOf(item);
    const gone = element === undefined ? undefined : childAt(set, element);
    if (element === undefined || gone === undefined) left.push(item);
    else if (!isMember(gone))
      left.push(withoutFields(list.of, item, gone, managed && childAt(managed, element)));
  }
  return left.length === 0 ? null : left;
}
