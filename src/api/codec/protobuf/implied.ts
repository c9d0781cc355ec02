import type { StructType, Type } from '../../schema/index.ts';

/** A required field that is not on the wire, and the value that this means. */
export interface Implied {
  name: string;
  make: () => unknown;
}

/** The required fields of which the reference cannot tell whether they were sent: numbers, flags, lists and maps. */
export function impliedIn(type: StructType): readonly Implied[] {
  return Object.entries(type.fields).flatMap(([name, { proto, required, type: inner }]) => {
    const make = required && proto !== 0 ? impliedValue(inner) : undefined;
    return make === undefined ? [] : [{ name, make }];
  });
}

/** Required texts, times and structs stay absent: the validation of required fields then speaks of them. */
function impliedValue(type: Type): (() => unknown) | undefined {
  if (type.t === 'list') return () => [];
  if (type.t === 'map') return () => ({});
  if (type.t === 'bool') return () => false;
  return type.t === 'int32' || type.t === 'int64' || type.t === 'double' ? () => 0 : undefined;
}
