import type { ListType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';
import { itemElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { below, isMember } from './field-set.ts';
import { granular } from './granular.ts';
import { hasNoFields } from './json.ts';

/**
 * The value without the fields of the set and all that is below them. Null is what remains of a list or an object of
 * which nothing remains; what is atomic goes as a whole. But a struct that `managed` has as a member stays, as `{}`.
 */
export function withoutFields(
  type: Type,
  value: unknown,
  set: FieldSet | undefined,
  managed?: FieldSet,
): unknown {
  if (set === undefined || hasNoFields(set)) return value;
  const parts = granular(type);
  if (parts === undefined) return typeof value === 'object' ? null : value;
  if (parts.t === 'list') return Array.isArray(value) ? withoutItems(parts, value, set, managed) : null;
  if (!isRecord(value)) return null;
  const left: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    const element = `f:${name}`;
    const gone = below(set, element);
    const of = parts.t === 'map' ? parts.of : parts.fields[name]?.type;
    if (gone === undefined || of === undefined) left.push([name, value[name]]);
    else if (!isMember(gone))
      left.push([name, withoutFields(of, value[name], gone, managed && below(managed, element))]);
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
    const gone = element === undefined ? undefined : below(set, element);
    if (element === undefined || gone === undefined) left.push(item);
    else if (!isMember(gone))
      left.push(withoutFields(list.of, item, gone, managed && below(managed, element)));
  }
  return left.length === 0 ? null : left;
}
