import type { ApiObject } from '../kinds/index.ts';
import type { StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { comparisonOf, withoutDelta } from './compare.ts';
import { itemElement } from './element.ts';
import { withFields } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { below, difference, intersection, isMember, rootOf, union } from './field-set.ts';
import { granular } from './granular.ts';
import { trackedPart } from './tracked.ts';

/** The states of an object that something is applied to. */
interface Application<T extends ApiObject> {
  /** Before; undefined for a new object. */
  live: T | undefined;
  /** What applying it has made. */
  applied: T;
  /** What becomes of that when it is stored: the server decides some fields itself. */
  prepared: T;
}

/**
 * A configuration without the fields that applying it does not change after all: the object that is stored lacks them, or
 * has them as it had them before. The very same one when there are none. Its manager would own, and take from others, what
 * it does not decide.
 */
export function withoutUndone<T extends ApiObject>(
  type: StructType,
  configuration: T,
  states: Application<T>,
): T {
  const tracked = trackedPart(type);
  const set = undone(tracked, states);
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

/** The object that applying has made, with its managers as they are once it is stored: of what goes then, nobody's. */
export function withManagersLeft<T extends ApiObject>(type: StructType, applied: T, prepared: T): T {
  const { managedFields: entries = [], ...metadata } = applied.metadata ?? {};
  const removed = comparisonOf(trackedPart(type))(applied, prepared)?.removed;
  if (removed === undefined) return applied;
  const left = (set: FieldSet | undefined) => withoutDelta(set, { changed: undefined, removed });
  const managedFields = entries.flatMap((entry) => withFields(entry, left(rootOf(entry.fieldsV1))) ?? []);
  return { ...applied, metadata: { ...metadata, managedFields } };
}

function undone<T extends ApiObject>(
  tracked: StructType,
  { live = {}, applied, prepared }: { live?: ApiObject | undefined; applied: T; prepared: T },
): FieldSet | undefined {
  const compare = comparisonOf(tracked);
  const decided = compare(applied, prepared);
  if (decided === undefined) return undefined;
  const overruled = intersection(compare(live, applied)?.changed, decided.changed);
  return union(decided.removed, difference(overruled, overruled && compare(live, prepared)?.changed));
}

/** Undefined when nothing remains; what has become empty is not said at all. */
function without(type: Type, value: unknown, set: FieldSet): unknown {
  const parts = granular(type);
  if (parts === undefined) return undefined;
  if (parts.t === 'list') {
    return Array.isArray(value) ? someOf(value, leftOf(value, parts.of, itemElement(parts), set)) : value;
  }
  if (!isRecord(value)) return value;
  const names = Object.keys(value);
  const left = names.flatMap((name): [string, unknown][] => {
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    const kept = of === undefined ? value[name] : part(of, value[name], below(set, `f:${name}`));
    return kept === undefined ? [] : [[name, kept]];
  });
  const isSame = left.length === names.length && left.every(([name, kept]) => kept === value[name]);
  if (isSame) return value;
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function leftOf(
  items: readonly unknown[],
  of: Type,
  elementOf: (item: unknown) => string | undefined,
  set: FieldSet,
): unknown[] {
  return items.flatMap((item) => {
    const element = elementOf(item);
    const kept = element === undefined ? item : part(of, item, below(set, element));
    return kept === undefined ? [] : [kept];
  });
}

function someOf(items: readonly unknown[], left: readonly unknown[]): unknown {
  if (left.length === items.length && left.every((item, index) => item === items[index])) return items;
  return left.length === 0 ? undefined : left;
}

function part(of: Type, value: unknown, gone: FieldSet | undefined): unknown {
  if (gone === undefined) return value;
  return isMember(gone) ? undefined : without(of, value, gone);
}
