import type { StructType, Type } from '../../schema/index.ts';

/** The value that a required field has when it is not on the wire. */
export interface Implied {
  name: string;
  make: () => unknown;
}

/** The required fields whose absence the reference cannot detect: numbers, booleans, lists and maps. */
export function listImplied(type: StructType): readonly Implied[] {
  return Object.entries(type.fields).flatMap(([name, { proto, required, type: inner }]) => {
    const make = required && proto !== 0 ? createImplied(inner) : undefined;
    return make === undefined ? [] : [{ name, make }];
  });
}

/** Required texts, times and structs stay absent: the validation of required fields reports them. */
function createImplied(type: Type): (() => unknown) | undefined {
  if (type.t === 'list') return () => [];
  if (type.t === 'map') return () => ({});
  if (type.t === 'bool') return () => false;
  return type.t === 'int32' || type.t === 'int64' || type.t === 'double' ? () => 0 : undefined;
}
