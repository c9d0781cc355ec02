import type { ListType, Type } from '../../schema/index.ts';

/** The description of a value; undefined where it has none. */
export type MaybeType = Type | undefined;

/** The description of a member of an object. Clients choose the names: `constructor` is a field only if described. */
export function findMemberType(type: MaybeType, name: string): MaybeType {
  if (type?.t === 'ref') return findMemberType(type.resolve(), name);
  if (type?.t === 'map') return type.of;
  if (type?.t !== 'struct' || !Object.hasOwn(type.fields, name)) return undefined;
  return type.fields[name]?.type;
}

/** Whether the type is a struct; an absent struct is merged like an empty one. */
export function isStruct(type: MaybeType): boolean {
  return type?.t === 'struct' || type?.t === 'ref';
}

/** Whether a patch of the struct stands for the whole of it. */
export function isReplaced(type: MaybeType): boolean {
  return type?.t === 'struct' && type.patch === 'replace';
}

export function asList(type: MaybeType): ListType | undefined {
  return type?.t === 'list' ? type : undefined;
}
