import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Field, ListType, MapType, Scalar, StructType, Type } from '../../schema/index.ts';
import { isAlwaysPresent, isRecord, isUnset, keepsZero, shortStep, zeroOf } from '../../schema/index.ts';
import { errorAt, ProtobufError } from './error.ts';
import type { Implied } from './implied.ts';
import { listImplied } from './implied.ts';
import type { Layout } from './layout.ts';
import { layoutOf } from './layout.ts';
import { scalarForm } from './scalars.ts';
import { expectEnd, expectWireType, readEndOfMessage, skipField } from './wire.ts';

/*
 * A description is compiled once into closures that read a message into the same object that JSON would give, so
 * everything after decoding is the same for both. The reference writes every field that is not a pointer, set or not,
 * while its JSON omits the unset ones. So a zero is not set here where the field is neither required nor marked as a
 * pointer; the checker removes such zeros in all encodings (schema/zeros.ts). Empty structs stay where they differ from
 * absent ones: `emptyDir: {}` has a meaning.
 *
 * The rules of proto2 hold: the last scalar counts, messages that occur twice are merged, lists of numbers may be packed,
 * unknown field numbers are skipped. Depth is bounded, because a description may be recursive. Memory is allocated in
 * proportion to the bytes that are present, never to an announced length.
 */

type Target = Record<string, unknown>;
/** Reads one occurrence of a field into the target. */
type ReadField = (reader: BinaryReader, wireType: WireType, target: Target, depth: number) => void;
/** Reads one value of a list or a map; undefined for an empty time. */
type ReadValue = (reader: BinaryReader, wireType: WireType, depth: number) => unknown;

interface Table {
  /** By the field's number. */
  fields: Map<number, { step: string; read: ReadField }>;
  implied: readonly Implied[];
}

const depthLimit = 100;

/**
 * Decodes a message of type `type`. The result has the fields that the checker of `type` accepts, in their canonical
 * form. Throws ProtobufError, with the path of the field, when the message is malformed.
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): Record<string, unknown> {
  const target: Target = {};
  try {
    readMessage(tableOf(type), new BinaryReader(bytes), bytes.length, target, 0);
  } catch (error) {
    throw errorAt('', error);
  }
  return target;
}

const compiled = new WeakMap<StructType, Table>();

function tableOf(type: StructType): Table {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const table: Table = { fields: new Map(), implied: listImplied(type) };
  // a nested struct gets its table when it is first read, so a description may refer to itself
  fillTable(table, layoutOf(type));
  compiled.set(type, table);
  return table;
}

function fillTable(table: Table, layout: Layout): void {
  for (const entry of layout) {
    if (!('inner' in entry)) {
      table.fields.set(entry.number, { step: entry.name, read: fieldReader(entry.name, entry.field) });
      continue;
    }
    const inner: Table = { fields: new Map(), implied: [] };
    fillTable(inner, entry.inner);
    table.fields.set(entry.number, { step: '', read: embeddedReader(inner) });
  }
}

function readMessage(table: Table, reader: BinaryReader, end: number, target: Target, depth: number): void {
  let step = '';
  try {
    while (reader.pos < end) {
      step = '';
      const [number, wireType] = reader.tag();
      const field = table.fields.get(number);
      if (field === undefined) skipField(reader, number, wireType);
      else {
        step = field.step;
        field.read(reader, wireType, target, depth);
      }
    }
    expectEnd(reader, end);
  } catch (error) {
    throw errorAt(step, error);
  }
  for (const { name, make } of table.implied) if (target[name] === undefined) target[name] = make();
}

/** Reads a length and the message; throws when messages are nested too deeply. */
function readEmbedded(table: Table, reader: BinaryReader, wireType: WireType, target: Target, depth: number) {
  expectWireType(wireType, WireType.LengthDelimited);
  if (depth >= depthLimit) throw new ProtobufError('', `nested deeper than ${depthLimit} messages`);
  readMessage(table, reader, readEndOfMessage(reader), target, depth + 1);
}

/** Reads a message whose fields JSON has one level higher, into the same target. */
function embeddedReader(inner: Table): ReadField {
  return (reader, wireType, target, depth) => readEmbedded(inner, reader, wireType, target, depth);
}

function fieldReader(name: string, field: Field): ReadField {
  const { type } = field;
  if (type.t === 'list') return listReader(name, type);
  if (type.t === 'map') return mapReader(name, type);
  if (type.t === 'struct' || type.t === 'ref') return structReader(name, type, isAlwaysPresent(field));
  return scalarReader(name, type.t, keepsZero(field));
}

function scalarReader(name: string, scalar: Scalar, keeps: boolean): ReadField {
  const form = scalarForm(scalar);
  const dropped = keeps ? undefined : zeroOf(scalar);
  return (reader, wireType, target) => {
    expectWireType(wireType, form.wireType);
    const value = form.read(reader);
    if (value !== dropped && value !== undefined) target[name] = value;
    else if (target[name] !== undefined) delete target[name];
  };
}

function structReader(
  name: string,
  type: Extract<Type, { t: 'struct' | 'ref' }>,
  dropsUnset: boolean,
): ReadField {
  let known: StructType | undefined;
  let table: Table | undefined;
  return (reader, wireType, target, depth) => {
    known ??= type.t === 'ref' ? type.resolve() : type;
    table ??= tableOf(known);
    const before = target[name];
    const inner = isRecord(before) ? before : {};
    target[name] = inner;
    readEmbedded(table, reader, wireType, inner, depth);
    if (dropsUnset && isUnset(known, inner)) delete target[name];
  };
}

function valueReader(type: Type): ReadValue {
  if (type.t === 'list' || type.t === 'map') throw new Error(`protobuf has no ${type.t} as an item`);
  if (type.t === 'struct' || type.t === 'ref') return structValueReader(type);
  const form = scalarForm(type.t);
  return (reader, wireType) => {
    expectWireType(wireType, form.wireType);
    return form.read(reader);
  };
}

function structValueReader(type: Extract<Type, { t: 'struct' | 'ref' }>): ReadValue {
  let table: Table | undefined;
  return (reader, wireType, depth) => {
    table ??= tableOf(type.t === 'ref' ? type.resolve() : type);
    const inner: Target = {};
    readEmbedded(table, reader, wireType, inner, depth);
    return inner;
  };
}

function listReader(name: string, type: ListType): ReadField {
  const readItem = valueReader(type.of);
  const packed = packedWireType(type.of);
  return (reader, wireType, target, depth) => {
    const before = target[name];
    const items: unknown[] = Array.isArray(before) ? before : [];
    try {
      if (packed !== undefined && wireType === WireType.LengthDelimited)
        readPacked(reader, packed, items, readItem);
      else push(items, readItem(reader, wireType, depth));
    } catch (error) {
      throw errorAt(`[${items.length}]`, error);
    }
    if (items.length > 0) target[name] = items;
  };
}

/** The wire type of numbers, which may be packed into one field; undefined for other types. */
function packedWireType(type: Type): WireType | undefined {
  if (type.t === 'list' || type.t === 'map' || type.t === 'struct' || type.t === 'ref') return undefined;
  const { wireType } = scalarForm(type.t);
  return wireType === WireType.LengthDelimited ? undefined : wireType;
}

function readPacked(reader: BinaryReader, wireType: WireType, items: unknown[], readItem: ReadValue): void {
  const end = readEndOfMessage(reader);
  while (reader.pos < end) push(items, readItem(reader, wireType, 0));
  expectEnd(reader, end);
}

function push(items: unknown[], item: unknown): void {
  if (item !== undefined) items.push(item);
}

/** One occurrence is one entry, the message {1: key, 2: value}; if a key occurs twice, the later one counts. */
function mapReader(name: string, type: MapType): ReadField {
  const readValue = type.of.t === 'list' ? wrappedListReader(type.of) : valueReader(type.of);
  const { of } = type;
  return (reader, wireType, target, depth) => {
    expectWireType(wireType, WireType.LengthDelimited);
    const end = readEndOfMessage(reader);
    let key = '';
    let value: unknown;
    try {
      while (reader.pos < end) {
        const [number, innerType] = reader.tag();
        if (number === 1) {
          expectWireType(innerType, WireType.LengthDelimited);
          key = reader.string(true);
        } else if (number === 2) value = readValue(reader, innerType, depth);
        else skipField(reader, number, innerType);
      }
      expectEnd(reader, end);
    } catch (error) {
      throw errorAt(shortStep(key), error);
    }
    value ??= createAbsentValue(of);
    if (value === undefined) return;
    const before = target[name];
    const map = isRecord(before) ? before : {};
    target[name] = map;
    setKey(map, key, value);
  };
}

/** A list as the value of a map is the message {1: items}. */
function wrappedListReader(type: ListType): ReadValue {
  const table: Table = {
    fields: new Map([[1, { step: '', read: listReader('items', type) }]]),
    implied: [{ name: 'items', make: () => [] }],
  };
  return (reader, wireType, depth) => {
    const inner: Target = {};
    readEmbedded(table, reader, wireType, inner, depth);
    return inner['items'];
  };
}

function createAbsentValue(type: Type): unknown {
  if (type.t === 'list') return [];
  if (type.t === 'struct') return decodeMessage(type, new Uint8Array());
  if (type.t === 'ref') return decodeMessage(type.resolve(), new Uint8Array());
  if (type.t === 'map') return {};
  return zeroOf(type.t) ?? scalarForm(type.t).absent;
}

/** Sets a key as JSON.parse does: `__proto__` is a key like any other. */
function setKey(map: Target, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value;
  else Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}
