import type { Type } from '../schema/index.ts';
import type { FieldSet } from './field-set.ts';
import { kept, leaf } from './field-set.ts';
import { granular, typeBelow } from './granular.ts';
import { hasNoFields } from './json.ts';

/**
 * A set that was stored when the type may have been another, as the type is now: fields that it has no more are nobody's,
 * and who owned a part of what has become atomic owns all of it.
 */
export function reconciled(type: Type, set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined || hasNoFields(set)) return set;
  const parts = granular(type);
  if (parts === undefined) return leaf;
  return kept(set, '.' in set, (element, inner) => {
    const of = typeBelow(parts, element);
    return of === undefined ? undefined : reconciled(of, inner);
  });
}
