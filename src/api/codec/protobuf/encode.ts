import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ListType, MapType, Scalar, StructType, Type } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import { errorAt, ProtobufError } from './error.ts';
import type { Layout } from './layout.ts';
import { layoutOf } from './layout.ts';
import { scalarForm } from './scalars.ts';
import { toTag } from './wire.ts';

/*
 * A description is compiled once into closures that write a value's fields in the order of their numbers, as the
 * reference does. Absent fields are not written; the reference reads them as zero values.
 */

/** Writes a value that is present, with its tag. */
type WriteField = (writer: BinaryWriter, value: unknown) => void;
/** Writes the fields of a struct, without length. */
type WriteFields = (writer: BinaryWriter, value: Record<string, unknown>) => void;

/**
 * Reused by each call: a fresh writer has to grow its buffer, which makes a call take 15 % (a pod) to 65 % (a node)
 * longer. It is empty between calls. After a large message or an error the next call gets a fresh one.
 */
let reusableWriter = new BinaryWriter();
const reusableLimitBytes = 64 * 1024;

/**
 * Encodes a value that the checker of `type` accepts. Throws ProtobufError, with the path, where a value does not fit its
 * type. The value is not changed.
 */
export function encodeMessage(type: StructType, value: unknown): Uint8Array {
  const writer = reusableWriter;
  reusableWriter = new BinaryWriter();
  try {
    structWriter(type)(writer, expectRecord(value));
  } catch (error) {
    throw errorAt('', error);
  }
  const message = writer.finish();
  if (message.length <= reusableLimitBytes) reusableWriter = writer;
  return message;
}

const compiled = new WeakMap<StructType, WriteFields>();

function structWriter(type: StructType): WriteFields {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  // a nested struct gets its writer when it is first written, so a description may refer to itself
  const write = layoutWriter(layoutOf(type));
  compiled.set(type, write);
  return write;
}

interface NamedWriter {
  name: string;
  write: WriteField;
}

function layoutWriter(layout: Layout): WriteFields {
  const writers = layout.map((entry): NamedWriter | WriteFields =>
    'inner' in entry
      ? embeddedWriter(entry.number, layoutWriter(entry.inner), listNames(entry.inner))
      : { name: entry.name, write: fieldWriter(entry.number, entry.field.type) },
  );
  return (writer, value) => {
    for (const entry of writers) {
      if (typeof entry === 'function') entry(writer, value);
      else {
        const inner = value[entry.name];
        if (inner !== undefined && inner !== null) writeAt(entry.name, entry.write, writer, inner);
      }
    }
  };
}

function writeAt(step: string, write: WriteField, writer: BinaryWriter, value: unknown): void {
  try {
    write(writer, value);
  } catch (error) {
    throw errorAt(step, error);
  }
}

function listNames(layout: Layout): string[] {
  return layout.flatMap((entry) => ('inner' in entry ? listNames(entry.inner) : [entry.name]));
}

/** Writes the message whose fields JSON has one level higher, if one of them is present. */
function embeddedWriter(number: number, writeInner: WriteFields, names: readonly string[]): WriteFields {
  const tag = toTag(number, WireType.LengthDelimited);
  return (writer, value) => {
    if (!names.some((name) => value[name] !== undefined && value[name] !== null)) return;
    writer.uint32(tag).fork();
    writeInner(writer, value);
    writer.join();
  };
}

function fieldWriter(number: number, type: Type): WriteField {
  if (type.t === 'list') return listWriter(number, type);
  if (type.t === 'map') return mapWriter(number, type);
  if (type.t === 'struct' || type.t === 'ref') return messageWriter(number, type);
  return scalarWriter(number, type.t);
}

function scalarWriter(number: number, scalar: Scalar): WriteField {
  const form = scalarForm(scalar);
  const tag = toTag(number, form.wireType);
  return (writer, value) => form.write(writer.uint32(tag), value);
}

function messageWriter(number: number, type: Extract<Type, { t: 'struct' | 'ref' }>): WriteField {
  const tag = toTag(number, WireType.LengthDelimited);
  let write: WriteFields | undefined;
  return (writer, value) => {
    write ??= structWriter(type.t === 'ref' ? type.resolve() : type);
    writer.uint32(tag).fork();
    write(writer, expectRecord(value));
    writer.join();
  };
}

/** Writes lists unpacked, as the reference does even for numbers. */
function listWriter(number: number, type: ListType): WriteField {
  const writeItem = fieldWriter(number, type.of);
  return (writer, value) => {
    if (!Array.isArray(value)) throw new ProtobufError('', 'expected a list');
    for (let index = 0; index < value.length; index++) writeItemAt(index, writeItem, writer, value[index]);
  };
}

function writeItemAt(index: number, write: WriteField, writer: BinaryWriter, item: unknown): void {
  try {
    write(writer, item);
  } catch (error) {
    throw errorAt(`[${index}]`, error);
  }
}

/** An entry is the message {1: key, 2: value}; a list as the value is the message {1: items}. */
function mapWriter(number: number, type: MapType): WriteField {
  const tag = toTag(number, WireType.LengthDelimited);
  const keyTag = toTag(1, WireType.LengthDelimited);
  const writeValue = type.of.t === 'list' ? wrappedListWriter(2, type.of) : fieldWriter(2, type.of);
  return (writer, value) => {
    const map = expectRecord(value);
    for (const key of sortedKeys(map)) {
      writer.uint32(tag).fork().uint32(keyTag).string(key);
      writeAt(key, writeValue, writer, map[key]);
      writer.join();
    }
  };
}

function wrappedListWriter(number: number, type: ListType): WriteField {
  const tag = toTag(number, WireType.LengthDelimited);
  const writeList = listWriter(1, type);
  return (writer, value) => {
    writer.uint32(tag).fork();
    writeList(writer, value);
    writer.join();
  };
}

const surrogate = /[\ud800-\udfff]/;

/** Keys in the order of their UTF-8 bytes, which differs from that of UTF-16 only for characters of two units. */
function sortedKeys(map: Record<string, unknown>): string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  return keys.some((key) => surrogate.test(key))
    ? keys.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    : keys.sort();
}

function expectRecord(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new ProtobufError('', 'expected an object');
  return value;
}
