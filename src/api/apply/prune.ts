import type { StructType } from '../schema/index.ts';
import type { FieldSet } from './field-set.ts';
import { contains, difference, intersection, union } from './field-set.ts';
import { withNamedFields } from './named.ts';
import { fieldsOf } from './of-value.ts';
import { withoutFields } from './remove.ts';

/**
 * The merged object, itself where nothing goes, without what the manager applied before (`last`) and nobody manages now: neither the manager, in
 * what it applies this time, nor another; `managed` is the union of them. What is unmanaged and was never the manager's stays,
 * unless it stands in a field or an item that goes as a whole.
 *
 * A struct that somebody manages itself stays, as `{}`, when the last field in it goes; in the reference it is lost.
 *
 * First all that was applied before is taken away, then what somebody manages is put back, then what went along with it
 * although it was not the manager's.
 */
export function pruned(
  type: StructType,
  object: unknown,
  last: FieldSet | undefined,
  managed: FieldSet | undefined,
): unknown {
  if (contains(managed, last)) return object;
  const named = (set: FieldSet | undefined) => withNamedFields(type, set);
  const fieldsIn = (value: unknown) => named(fieldsOf(type, value, { unique: false }));
  const before = named(last);
  const all = fieldsIn(object);
  const left = fieldsIn(withoutFields(type, object, before));
  const unowned = difference(all, union(left, named(managed)));
  const afterOwned = fieldsIn(withoutFields(type, object, unowned));
  return withoutFields(type, object, intersection(difference(all, afterOwned), before), managed);
}
