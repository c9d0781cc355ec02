import type { ListType, Type } from '../../schema/index.ts';

/** The description of a value; undefined where nothing is known of it. */
export type Described = Type | undefined;

/** The description of a member of an object. Names come from outside: `constructor` is a field only if described. */
export function describedMember(type: Described, name: string): Described {
  if (type?.t === 'ref') return describedMember(type.resolve(), name);
  if (type?.t === 'map') return type.of;
  if (type?.t !== 'struct' || !Object.hasOwn(type.fields, name)) return undefined;
  return type.fields[name]?.type;
}

/** Whether a value is an object of a type with fields of its own: such a one that is absent is an empty one. */
export function isStruct(type: Described): boolean {
  return type?.t === 'struct' || type?.t === 'ref';
}

export function asList(type: Described): ListType | undefined {
  return type?.t === 'list' ? type : undefined;
}
