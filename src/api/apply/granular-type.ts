import type { ListType, MapType, StructType, Type } from '../schema/index.ts';

/** A type whose values are owned part by part. */
export type GranularType = StructType | MapType | ListType;

/** The type itself, or the struct it refers to; undefined when values are owned as a whole: scalars and atomic types. */
export function toGranularType(type: Type): GranularType | undefined {
  const known = type.t === 'ref' ? type.resolve() : type;
  if (known.t === 'list') return known.list === 'atomic' ? undefined : known;
  if (known.t === 'map' || known.t === 'struct') return known.atomic ? undefined : known;
  return undefined;
}

/** The type of the part that an element leads to; undefined where the type has no such part. */
export function findTypeBelow(type: GranularType, element: string): Type | undefined {
  if (type.t === 'struct') return element.startsWith('f:') ? type.fields[element.slice(2)]?.type : undefined;
  const isItem = element.startsWith('k:') || element.startsWith('v:');
  return (type.t === 'list') === isItem ? type.of : undefined;
}
