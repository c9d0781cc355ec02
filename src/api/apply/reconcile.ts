import type { Type } from '../schema/index.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, mapParts } from './field-set.ts';
import { findTypeBelow, toGranularType } from './granular-type.ts';
import { hasNoFields } from './json-values.ts';

/**
 * Adapts a stored set to the present type, which may have changed since: fields that the type no longer has are dropped,
 * and an owner of a part of a value that is atomic now owns all of it.
 */
export function reconcileFields(type: Type, set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined || hasNoFields(set)) return set;
  const parts = toGranularType(type);
  if (parts === undefined) return leaf;
  return mapParts(set, '.' in set, (element, inner) => {
    const of = findTypeBelow(parts, element);
    return of === undefined ? undefined : reconcileFields(of, inner);
  });
}
