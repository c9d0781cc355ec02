import type { Field, Scalar } from './types.ts';

/*
 * A client in Go cannot distinguish an unset field from one that is set to its zero, unless the field is a pointer; in JSON
 * it omits both. So such a zero is dropped in every encoding, and an object is the same in all of them.
 */

const zeros: Readonly<Partial<Record<Scalar, string | number | boolean>>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

/** The zero of a scalar in Go that its JSON omits; undefined for scalars whose absence Go can distinguish. */
export function zeroOf(scalar: Scalar): string | number | boolean | undefined {
  return zeros[scalar];
}

/** Whether a zero of this field (empty text, false, 0, empty list or map) differs from its absence. */
export function keepsZero({ required, pointer }: Pick<Field, 'required' | 'pointer'>): boolean {
  return required || pointer === true;
}

/** Which values of a field are dropped. Structs stay: `emptyDir: {}` has a meaning. */
export interface Dropped {
  /** The scalar that is dropped, if any. */
  zero: string | number | boolean | undefined;
  /** Whether an empty list or map is dropped. */
  empty: boolean;
}

export function computeDropped(field: Field): Dropped {
  const { t } = field.type;
  if (keepsZero(field) || t === 'struct' || t === 'ref') return { zero: undefined, empty: false };
  return t === 'list' || t === 'map' ? { zero: undefined, empty: true } : { zero: zeroOf(t), empty: false };
}

export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in Object(value)) return false;
  return true;
}
