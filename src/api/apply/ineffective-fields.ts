import type { ApiObject } from '../kinds/index.ts';
import type { StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { comparatorFor, withoutDelta } from './compare.ts';
import { itemElement } from './element.ts';
import { withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { childAt, difference, intersection, isMember, rootOf, union } from './field-set.ts';
import { toGranularType } from './granular-type.ts';
import { toTrackedType } from './tracked-type.ts';

/** The states of an object during an apply. */
interface Application<T extends ApiObject> {
  /** Before the apply; undefined for a new object. */
  live: T | undefined;
  /** The result of the apply. */
  applied: T;
  /** The object that is stored: the server decides some fields itself. */
  prepared: T;
}

/**
 * The configuration without the fields in which it has no effect: the stored object lacks them, or has them as before.
 * Otherwise its manager would own fields that it does not decide, and take them from others. Returns the very same
 * configuration when there are no such fields.
 */
export function withoutIneffectiveFields<T extends ApiObject>(
  type: StructType,
  configuration: T,
  states: Application<T>,
): T {
  const tracked = toTrackedType(type);
  const set = findIneffectiveFields(tracked, states);
  if (set === undefined) return configuration;
  const left = without(tracked, configuration, set);
  if (left === configuration) return configuration;
  const result = { ...configuration };
  for (const name of Object.keys(configuration)) {
    if (!isRecord(left) || !(name in left)) Reflect.deleteProperty(result, name);
    else Reflect.set(result, name, left[name]);
  }
  return result;
}

/** The result of the apply, without owners for the fields that the object loses when it is stored. */
export function withRemainingManagers<T extends ApiObject>(type: StructType, applied: T, prepared: T): T {
  const { managedFields: entries = [], ...metadata } = applied.metadata ?? {};
  const removed = comparatorFor(toTrackedType(type))(applied, prepared)?.removed;
  if (removed === undefined) return applied;
  const left = (set: FieldSet | undefined) => withoutDelta(set, { changed: undefined, removed });
  const managedFields = entries.flatMap((entry) => withFields(entry, left(rootOf(entry.fieldsV1))) ?? []);
  return { ...applied, metadata: { ...metadata, managedFields } };
}

function findIneffectiveFields<T extends ApiObject>(
  tracked: StructType,
  { live = {}, applied, prepared }: { live?: ApiObject | undefined; applied: T; prepared: T },
): FieldSet | undefined {
  const compare = comparatorFor(tracked);
  const decided = compare(applied, prepared);
  if (decided === undefined) return undefined;
  const overruled = intersection(compare(live, applied)?.changed, decided.changed);
  return union(decided.removed, difference(overruled, overruled && compare(live, prepared)?.changed));
}

/** The value without the fields of the set; undefined when it is empty then. */
function without(type: Type, value: unknown, set: FieldSet): unknown {
  const parts = toGranularType(type);
  if (parts === undefined) return undefined;
  if (parts.t === 'list') {
    return Array.isArray(value)
      ? undefinedIfEmpty(value, remainingItems(value, parts.of, itemElement(parts), set))
      : value;
  }
  if (!isRecord(value)) return value;
  const names = Object.keys(value);
  const left = names.flatMap((name): [string, unknown][] => {
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    const kept = of === undefined ? value[name] : part(of, value[name], childAt(set, `f:${name}`));
    return kept === undefined ? [] : [[name, kept]];
  });
  const isSame = left.length === names.length && left.every(([name, kept]) => kept === value[name]);
  if (isSame) return value;
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function remainingItems(
  items: readonly unknown[],
  of: Type,
  elementOf: (item: unknown) => string | undefined,
  set: FieldSet,
): unknown[] {
  return items.flatMap((item) => {
    const element = elementOf(item);
    const kept = element === undefined ? item : part(of, item, childAt(set, element));
    return kept === undefined ? [] : [kept];
  });
}

function undefinedIfEmpty(items: readonly unknown[], left: readonly unknown[]): unknown {
  if (left.length === items.length && left.every((item, index) => item === items[index])) return items;
  return left.length === 0 ? undefined : left;
}

function part(of: Type, value: unknown, gone: FieldSet | undefined): unknown {
  if (gone === undefined) return value;
  return isMember(gone) ? undefined : without(of, value, gone);
}
