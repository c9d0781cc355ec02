import type { Field, Scalar } from './types.ts';

/*
 * A client in Go cannot tell a field that nobody set from one that was set to its zero, unless the field is a pointer;
 * in JSON it leaves both away. So such a zero is no value: it is dropped from whatever encoding it comes, and an object
 * reads the same in all of them.
 */

const zeros: Readonly<Partial<Record<Scalar, string | number | boolean>>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

/** What an unset scalar is in Go, where JSON leaves it away; undefined where what is not set is told from a value anyway. */
export function zeroOf(scalar: Scalar): string | number | boolean | undefined {
  return zeros[scalar];
}

/** Whether a zero of this field says something: an empty text, false, 0, an empty list or map. */
export function keepsZero({ required, pointer }: Pick<Field, 'required' | 'pointer'>): boolean {
  return required || pointer === true;
}

/** Which value of a field is dropped. Structs stay: `emptyDir: {}` says something. */
export interface Dropped {
  /** Undefined where there is none. */
  zero: string | number | boolean | undefined;
  /** Whether an empty list or map is. */
  empty: boolean;
}

export function droppedFrom(field: Field): Dropped {
  const { t } = field.type;
  if (keepsZero(field) || t === 'struct' || t === 'ref') return { zero: undefined, empty: false };
  return t === 'list' || t === 'map' ? { zero: undefined, empty: true } : { zero: zeroOf(t), empty: false };
}

export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in Object(value)) return false;
  return true;
}
