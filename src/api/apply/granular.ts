import type { ListType, MapType, StructType, Type } from '../schema/index.ts';

/** What is owned part by part. */
export type Granular = StructType | MapType | ListType;

/** The type of a value that is owned part by part; undefined when it is owned as a whole: a scalar, whatever is atomic. */
export function granular(type: Type): Granular | undefined {
  const known = type.t === 'ref' ? type.resolve() : type;
  if (known.t === 'list') return known.list === 'atomic' ? undefined : known;
  if (known.t === 'map' || known.t === 'struct') return known.atomic ? undefined : known;
  return undefined;
}

/** The type of what an element leads to; undefined where the type has no such part. */
export function typeBelow(type: Granular, element: string): Type | undefined {
  if (type.t === 'struct') return element.startsWith('f:') ? type.fields[element.slice(2)]?.type : undefined;
  const isItem = element.startsWith('k:') || element.startsWith('v:');
  return (type.t === 'list') === isItem ? type.of : undefined;
}
