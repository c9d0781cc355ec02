import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { WireType } from '@bufbuild/protobuf/wire';
import { formatDuration, parseDuration } from '../../../base/index.ts';
import { JsonError, parseJson } from '../../json/index.ts';
import { isRecord, scalarRule } from '../../schema/index.ts';
import { ProtobufError } from './error.ts';
import type { ScalarForm } from './scalar-form.ts';
import { expectText, expectWireType, readEndOfMessage, readFields, writeBytes, writeText } from './wire.ts';

/*
 * Scalars of JSON that are messages on the wire. If one occurs twice in its message, the later one counts as a whole; the
 * parts are not merged.
 */

const { Varint, LengthDelimited } = WireType;

/** {1: text}; an empty message is Go's zero quantity. */
export const quantityForm: ScalarForm = {
  wireType: LengthDelimited,
  read(reader) {
    const { text } = readFields(reader, readEndOfMessage(reader), { text: '0' }, takeText);
    const quantity = scalarRule('quantity').read(text);
    if (quantity !== undefined) return quantity;
    throw new ProtobufError('', 'expected a quantity such as 500m or 16Gi');
  },
  write(writer, value) {
    writer.fork();
    writeText(writer, 1, expectText(value));
    writer.join();
  },
  absent: '0',
};

function takeText(into: { text: string }, number: number, wireType: WireType, reader: BinaryReader) {
  if (number !== 1) return false;
  expectWireType(wireType, LengthDelimited);
  into.text = reader.string(true);
  return true;
}

/** {1: nanoseconds}; the text is Go's, `1m30s`. */
export const durationForm: ScalarForm = {
  wireType: LengthDelimited,
  read(reader) {
    const { nanoseconds } = readFields(
      reader,
      readEndOfMessage(reader),
      { nanoseconds: 0n },
      takeNanoseconds,
    );
    return formatDuration(nanoseconds);
  },
  write(writer, value) {
    const nanoseconds = parseDuration(expectText(value));
    if (nanoseconds === undefined)
      throw new ProtobufError('', 'expected a duration of at most 292 years, such as 1m30s');
    writer.fork().uint32(0x08).int64(nanoseconds).join();
  },
  absent: '0s',
};

function takeNanoseconds(
  into: { nanoseconds: bigint },
  number: number,
  wireType: WireType,
  reader: BinaryReader,
) {
  if (number !== 1) return false;
  expectWireType(wireType, Varint);
  into.nanoseconds = BigInt(reader.int64());
  return true;
}

interface IntOrString {
  /** 0 is the number, 1 the text. */
  type: number;
  number: number;
  text: string;
}

/** {1: type, 2: number, 3: text}; all three are always written. */
export const intOrStringForm: ScalarForm = {
  wireType: LengthDelimited,
  read(reader) {
    const into: IntOrString = { type: 0, number: 0, text: '' };
    const { type, number, text } = readFields(reader, readEndOfMessage(reader), into, takeIntOrString);
    if (type !== 0 && type !== 1)
      throw new ProtobufError('', `the type is ${type}, neither 0 (int) nor 1 (string)`);
    return type === 0 ? number : text;
  },
  write(writer, value) {
    const isNumber = typeof value === 'number';
    writer
      .fork()
      .uint32(0x08)
      .int32(isNumber ? 0 : 1);
    writer.uint32(0x10).int32(isNumber ? value : 0);
    writeText(writer, 3, isNumber ? '' : expectText(value));
    writer.join();
  },
  absent: 0,
};

function takeIntOrString(into: IntOrString, number: number, wireType: WireType, reader: BinaryReader) {
  if (number === 1 || number === 2) {
    expectWireType(wireType, Varint);
    if (number === 1) into.type = reader.int32();
    else into.number = reader.int32();
  } else if (number === 3) {
    expectWireType(wireType, LengthDelimited);
    into.text = reader.string(true);
  } else return false;
  return true;
}

/** {1: JSON}; undefined when it is empty or JSON's null. */
export const rawForm: ScalarForm = {
  wireType: LengthDelimited,
  read(reader) {
    const none: { json: string | undefined } = { json: undefined };
    const { json } = readFields(reader, readEndOfMessage(reader), none, takeJson);
    return json === undefined ? undefined : (parseJsonBytes(json) ?? undefined);
  },
  write(writer, value) {
    const json = Buffer.from(JSON.stringify(value) ?? 'null');
    writer.fork();
    writeBytes(writer, 1, json);
    writer.join();
  },
};

/** The same, for an object only. */
export const fieldsForm: ScalarForm = {
  ...rawForm,
  read(reader) {
    const value = rawForm.read(reader);
    if (value === undefined || isRecord(value)) return value;
    throw new ProtobufError('', 'expected the JSON of an object');
  },
};

function takeJson(
  into: { json: string | undefined },
  number: number,
  wireType: WireType,
  reader: BinaryReader,
) {
  if (number !== 1) return false;
  expectWireType(wireType, LengthDelimited);
  into.json = reader.string(true);
  return true;
}

function parseJsonBytes(json: string): unknown {
  if (json === '') return undefined;
  try {
    return parseJson(json).value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ProtobufError('', `the bytes are not JSON: ${error.message}`);
  }
}
