import { WireType } from '@bufbuild/protobuf/wire';
import { unusual } from '../../../json/index.ts';
import type { MapType, StructType, Type } from '../../../schema/index.ts';
import type { Layout } from '../layout.ts';
import { layoutOf } from '../layout.ts';
import { scalarForm } from '../scalars.ts';
import { toTag } from '../wire.ts';
import { delimited, listCopier, mapCopier, tagged } from './containers.ts';
import type { FieldCopier } from './fields.ts';
import { orderOf } from './parts.ts';
import type { CopyValue } from './scalars.ts';
import { scalarCopier } from './scalars.ts';
import { structCopier } from './structs.ts';

/*
 * A description is compiled once into functions that read the JSON of a value and write its message. They write the fields
 * in the order in which they find them, and put them into the order of their numbers where it is another one.
 */

/** Compiles the description of an object whose `metadata` take the version. */
export function compileObject(type: StructType): CopyValue {
  const fields = fieldsOf(layoutOf(type), 0).map((field) =>
    field.key.equals(metadataKey) ? { ...field, copy: withVersion(field.copy) } : field,
  );
  return structCopier(fields);
}

const metadataKey = Buffer.from('"metadata":');

function withVersion(copy: CopyValue): CopyValue {
  return (conversion) => {
    conversion.isRevisionDue = conversion.revision > 0;
    copy(conversion);
  };
}

const compiled = new WeakMap<StructType, CopyValue>();

function structOf(type: StructType): CopyValue {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const copy = copierOf(layoutOf(type));
  compiled.set(type, copy);
  return copy;
}

function copierOf(layout: Layout): CopyValue {
  if (layout.some((entry) => 'inner' in entry && entry.inner.some((each) => 'inner' in each)))
    return (conversion) => {
      throw unusual(conversion); // two messages around a field that JSON does not have: it is parsed
    };
  const fields = fieldsOf(layout, 0);
  const version = fields.find(({ key }) => key.equals(versionKey));
  return structCopier(fields, version);
}

const versionKey = Buffer.from('"resourceVersion":');
function fieldsOf(layout: Layout, within: number): FieldCopier[] {
  return layout.flatMap((entry) => {
    if ('inner' in entry) return fieldsOf(entry.inner, entry.number);
    const { number, name, field } = entry;
    const order = within === 0 ? orderOf(number, 0) : orderOf(within, number);
    const key = Buffer.from(`${JSON.stringify(name)}:`);
    return { key, order, copy: fieldCopier(number, field.type), likelyNext: undefined };
  });
}

/** Copies a value with its tag. */
function fieldCopier(number: number, type: Type): CopyValue {
  const tag = toTag(number, WireType.LengthDelimited);
  if (type.t === 'list') return listCopier(fieldCopier(number, type.of));
  if (type.t === 'map') return mapCopier(tag, entryValueCopier(type));
  if (type.t === 'struct' || type.t === 'ref') return delimited(tag, whenUsed(type));
  return tagged(toTag(number, scalarForm(type.t).wireType), scalarCopier(type.t));
}

/** A list as the value of an entry is the message {1: items}. */
function entryValueCopier({ of }: MapType): CopyValue {
  const tag = toTag(2, WireType.LengthDelimited);
  return of.t === 'list' ? delimited(tag, listCopier(fieldCopier(1, of.of))) : fieldCopier(2, of);
}

/** Compiles a nested struct when it is first met, so a description may refer to itself. */
function whenUsed(type: Extract<Type, { t: 'struct' | 'ref' }>): CopyValue {
  let copy: CopyValue | undefined;
  return (conversion) => {
    copy ??= structOf(type.t === 'ref' ? type.resolve() : type);
    copy(conversion);
  };
}
