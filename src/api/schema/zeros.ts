import { isRecord } from '../../base/index.ts';
import type { Field, Scalar, StructType, Type } from './types.ts';

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

/** What a null stands for as an item of a list or a map: nothing set. Null where it stays null. */
export function zeroItemOf(type: Type): unknown {
  if (type.t === 'struct' || type.t === 'ref' || type.t === 'map') return {};
  if (type.t === 'list') return [];
  if (type.t === 'quantity') return '0';
  return type.t === 'intOrString' ? 0 : (zeroOf(type.t) ?? null);
}

/** Whether a zero of this field (empty text, false, 0, empty list or map) differs from its absence. */
export function keepsZero({ required, pointer }: Pick<Field, 'required' | 'pointer'>): boolean {
  return required || pointer === true;
}

/** Whether a struct is there although nothing in it is set: then it is the same as an absent one. */
export function isAlwaysPresent({ type, required, default: value }: Field): boolean {
  return (type.t === 'struct' || type.t === 'ref') && !required && value !== undefined;
}

/** Whether nothing is set in a struct: it is empty, but for zeros that it must have. */
export function isUnset(type: StructType, value: unknown): boolean {
  if (!isRecord(value)) return false;
  for (const name in value) {
    const field = type.fields[name];
    if (!field?.required || !isZero(field.type, value[name])) return false;
  }
  return true;
}

function isZero(type: Type, value: unknown): boolean {
  if (value === null) return true;
  if (type.t === 'struct') return isUnset(type, value);
  if (type.t === 'ref') return isUnset(type.resolve(), value);
  return type.t === 'list' || type.t === 'map' ? isEmpty(value) : value === zeroOf(type.t);
}

/** Which values of a field are dropped. Other structs stay: `emptyDir: {}` has a meaning. */
export interface Dropped {
  /** The scalar that is dropped, if any. */
  zero: string | number | boolean | undefined;
  /** Whether a value is dropped because nothing is in it. */
  isEmpty: ((value: unknown) => boolean) | undefined;
}

export function computeDropped(field: Field): Dropped {
  const { t } = field.type;
  if (isAlwaysPresent(field)) return { zero: undefined, isEmpty: (value) => isZero(field.type, value) };
  if (keepsZero(field) || t === 'struct' || t === 'ref') return { zero: undefined, isEmpty: undefined };
  return t === 'list' || t === 'map' ? { zero: undefined, isEmpty } : { zero: zeroOf(t), isEmpty: undefined };
}

export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in Object(value)) return false;
  return true;
}
