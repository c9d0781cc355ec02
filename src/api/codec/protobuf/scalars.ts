import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { WireType } from '@bufbuild/protobuf/wire';
import type { Scalar } from '../../schema/index.ts';
import { ProtobufError } from './error.ts';
import { durationForm, fieldsForm, intOrStringForm, quantityForm, rawForm } from './message-scalars.ts';
import type { ScalarForm } from './scalar-form.ts';
import { microTimeForm, timeForm } from './times.ts';
import { expectNumber, expectText, toBuffer, writeInteger } from './wire.ts';

const { Varint, Bit64, LengthDelimited } = WireType;

const forms: Readonly<Record<Scalar, ScalarForm>> = {
  string: {
    wireType: LengthDelimited,
    read: (reader) => reader.string(true),
    write: (writer, value) => writer.string(expectText(value)),
  },
  bool: {
    wireType: Varint,
    read: (reader) => reader.bool(),
    write(writer, value) {
      if (typeof value !== 'boolean') throw new ProtobufError('', 'expected true or false');
      writer.bool(value);
    },
  },
  int32: {
    wireType: Varint,
    read: (reader) => reader.int32(),
    write: (writer, value) => writer.int32(expectNumber(value)),
  },
  int64: {
    wireType: Varint,
    read: readSafeInteger,
    write(writer, value) {
      if (!Number.isSafeInteger(value)) throw new ProtobufError('', 'expected an integer between ±2^53');
      writeInteger(writer, expectNumber(value));
    },
  },
  double: {
    wireType: Bit64,
    read: readDouble,
    write: (writer, value) => writer.double(expectNumber(value)),
  },
  bytes: {
    wireType: LengthDelimited,
    read: (reader) => toBuffer(reader.bytes()).toString('base64'),
    write: (writer, value) => writer.bytes(Buffer.from(expectText(value), 'base64')),
  },
  time: timeForm,
  microTime: microTimeForm,
  duration: durationForm,
  quantity: quantityForm,
  intOrString: intOrStringForm,
  fieldsV1: fieldsForm,
  raw: rawForm,
};

export function scalarForm(scalar: Scalar): ScalarForm {
  return forms[scalar];
}

function readSafeInteger(reader: BinaryReader): number {
  const value = Number(reader.int64());
  if (!Number.isSafeInteger(value)) throw new ProtobufError('', 'the integer is beyond ±2^53');
  return value;
}

function readDouble(reader: BinaryReader): number {
  const value = reader.double();
  if (!Number.isFinite(value)) throw new ProtobufError('', 'not a finite number');
  return value;
}
