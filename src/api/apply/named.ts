import type { Type } from '../schema/index.ts';
import type { FieldSet } from './field-set.ts';
import { below, leaf, setOf } from './field-set.ts';
import { granular, typeBelow } from './granular.ts';

/**
 * The set with the fields of structs that members stand below as members: `spec` and `spec.containers` when
 * `spec.containers[name="web"].image` is one. Keys of maps and items of lists are members only if they say so.
 */
export function withNamedFields(type: Type, set: FieldSet | undefined): FieldSet | undefined {
  return set && namedInside(type, set, '.' in set);
}

function namedInside(type: Type | undefined, set: FieldSet, self: boolean): FieldSet | undefined {
  const parts = type && granular(type);
  if (parts === undefined) return set;
  const inner: [string, FieldSet][] = [];
  for (const element in set) {
    const part = element === '.' ? undefined : below(set, element);
    if (part === undefined) continue;
    const of = typeBelow(parts, element);
    const isNamed = (parts.t === 'struct' && of !== undefined) || '.' in part;
    inner.push([element, namedInside(of, part, isNamed) ?? leaf]);
  }
  return setOf(self, inner);
}
