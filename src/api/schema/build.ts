import type {
  Field,
  Fields,
  ListMerge,
  ListType,
  MapType,
  Scalar,
  ScalarType,
  StructType,
  Type,
} from './types.ts';

const scalar = <S extends Scalar>(t: S): ScalarType<S> => ({ t });

export const string = scalar('string');
export const bool = scalar('bool');
export const int32 = scalar('int32');
export const int64 = scalar('int64');
export const double = scalar('double');
export const bytes = scalar('bytes');
export const time = scalar('time');
export const microTime = scalar('microTime');
export const duration = scalar('duration');
export const quantity = scalar('quantity');
export const intOrString = scalar('intOrString');
export const fieldsV1 = scalar('fieldsV1');
export const raw = scalar('raw');

/** A list; by default atomic (replaced as a whole). */
export function list<E extends Type>(of: E, merge: ListMerge = { list: 'atomic' }): ListType<E> {
  return { t: 'list', of, ...merge };
}

/** A map from string. */
export function map<E extends Type>(of: E, options: { atomic?: boolean } = {}): MapType<E> {
  return { t: 'map', of, ...options };
}

export function struct<const F extends Fields>(
  name: string,
  fields: F,
  options: Pick<StructType, 'atomic' | 'home' | 'patch'> = {},
): StructType<F> {
  return { t: 'struct', name, fields, ...options };
}

type FieldOptions = Pick<Field, 'default' | 'immutable' | 'pointer' | 'within' | 'written'>;

/** A field that may be absent. */
export function field<T extends Type>(
  proto: number,
  type: T,
  doc: string,
  options: FieldOptions = {},
): Field<T, false> {
  return { proto, type, doc, required: false, ...options };
}

/** A field that must be present. */
export function required<T extends Type>(
  proto: number,
  type: T,
  doc: string,
  options: FieldOptions = {},
): Field<T, true> {
  return { proto, type, doc, required: true, ...options };
}
