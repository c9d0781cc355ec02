import fc from 'fast-check';
import { itemElement } from '../../../../src/api/apply/element.ts';
import { isRecord } from '../../../../src/api/index.ts';
import type { Field, ListType, Scalar, StructType, Type } from '../../../../src/api/schema/index.ts';

/* Random values of a description: few different ones, so that they meet, and none that decoding would drop. */

const scalars: Partial<Record<Scalar, readonly unknown[]>> = {
  bool: [true],
  bytes: ['AAAA', 'BBBB'],
  double: [1, 2],
  duration: ['1s', '2s'],
  int32: [1, 2],
  int64: [1, 2],
  intOrString: [1, 'a'],
  microTime: ['2020-01-01T00:00:00.000000Z', '2021-01-01T00:00:00.000000Z'],
  quantity: ['1', '2'],
  string: ['a', 'b', 'c'],
  time: ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'],
};

const known = new WeakMap<Type, fc.Arbitrary<unknown>>();

export function valuesOf(type: Type): fc.Arbitrary<unknown> {
  const made = known.get(type) ?? arbitraryOf(type);
  known.set(type, made);
  return made;
}

function arbitraryOf(type: Type): fc.Arbitrary<unknown> {
  if (type.t === 'ref') return fc.constant(null).chain(() => valuesOf(type.resolve()));
  if (type.t === 'struct') return structs(type);
  if (type.t === 'list') return lists(type);
  if (type.t === 'map')
    return fc.dictionary(fc.constantFrom('a', 'b', 'example.com/c', 'constructor'), valuesOf(type.of), {
      minKeys: 1,
      maxKeys: 3,
    });
  return fc.constantFrom(...(scalars[type.t] ?? ['a']));
}

/** A few of its fields, and those that it must have. */
function structs({ fields }: StructType): fc.Arbitrary<unknown> {
  const isMetadata = 'managedFields' in fields;
  const names = Object.keys(fields).filter((name) => !(isMetadata && unwritten.includes(name)));
  const needed = names.filter((name) => fields[name]?.required);
  return fc.subarray(names, { maxLength: Math.min(4, names.length) }).chain((chosen) => {
    const all = [...new Set([...needed, ...chosen])];
    return fc.record(Object.fromEntries(all.flatMap((name) => fieldOf(name, fields[name]))));
  });
}

/** What no client writes into metadata. */
const unwritten = ['managedFields', 'resourceVersion', 'uid', 'generation', 'selfLink', 'creationTimestamp'];

function fieldOf(name: string, held: Field | undefined): [string, fc.Arbitrary<unknown>][] {
  if (held === undefined) return [];
  const values = valuesOf(held.type);
  return [[name, isRecord(held.default) ? values.filter(saysSomething) : values]];
}

/** Where a struct is there in any case, an empty one says no more than none. */
function saysSomething(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}

function lists(list: ListType): fc.Arbitrary<unknown> {
  const items = valuesOf(list.of);
  if (list.list === 'atomic') return fc.array(items, { minLength: 1, maxLength: 2 });
  const selector = itemElement(list);
  return fc.uniqueArray(items, { selector, minLength: 1, maxLength: 3 });
}

/** Objects of a description that all go by one name. */
export function objectsOf(type: StructType, typeFields: { apiVersion: string; kind: string }) {
  return valuesOf(type).map((value) => {
    const object = isRecord(value) ? value : {};
    const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
    const { generateName: _, ...kept } = metadata;
    return { ...object, ...typeFields, metadata: { ...kept, name: 'x' } };
  });
}
