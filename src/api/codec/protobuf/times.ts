import type { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { WireType } from '@bufbuild/protobuf/wire';
import { ProtobufError } from './error.ts';
import type { ScalarForm } from './scalar-form.ts';
import { expectText, expectWireType, readEndOfMessage, readFields, writeInteger } from './wire.ts';

/*
 * A time is the message {1: seconds since 1970, 2: nanoseconds}. An empty message is Go's zero time, null in JSON: a Go
 * client writes it for every creationTimestamp that is not set.
 */

interface Instant {
  seconds: number;
  nanos: number;
}

/** From the year 0 to the end of 9999, the range of RFC 3339. */
const firstSecond = -62_167_219_200;
const lastSecond = 253_402_300_799;
/** The first second of the year 1. */
const goZeroSecond = -62_135_596_800;

/** In whole seconds: the reference cuts off fractions, so that the object is the same in JSON. */
export const timeForm: ScalarForm = {
  wireType: WireType.LengthDelimited,
  read(reader) {
    const instant = readInstant(reader);
    return instant === undefined ? undefined : `${formatSeconds(instant)}Z`;
  },
  write: (writer, value) => writeInstant(writer, parseSeconds(expectText(value)), 0),
};

/** With six digits of a second, further ones are cut off. */
export const microTimeForm: ScalarForm = {
  wireType: WireType.LengthDelimited,
  read(reader) {
    const instant = readInstant(reader);
    if (instant === undefined) return undefined;
    if (instant.nanos < 0 || instant.nanos > 999_999_999)
      throw new ProtobufError('', 'the nanoseconds are not below one second');
    const micros = String(Math.floor(instant.nanos / 1000)).padStart(6, '0');
    return `${formatSeconds(instant)}.${micros}Z`;
  },
  write(writer, value) {
    const text = expectText(value);
    const micros = /^\.(\d{6})Z$/.exec(text.slice(endOfSeconds))?.[1];
    if (micros === undefined)
      throw new ProtobufError('', 'expected a time in UTC with six digits of a second');
    writeInstant(writer, parseSeconds(`${text.slice(0, endOfSeconds)}Z`), Number(micros) * 1000);
  },
};

const endOfSeconds = '2006-01-02T15:04:05'.length;

function parseSeconds(text: string): number {
  const milliseconds = text.length === endOfSeconds + 1 ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(milliseconds)) throw new ProtobufError('', 'expected a time in UTC, to the second');
  return milliseconds / 1000;
}

function formatSeconds({ seconds }: Instant): string {
  if (seconds < firstSecond || seconds > lastSecond)
    throw new ProtobufError('', 'the time is not between the years 0 and 9999');
  return new Date(seconds * 1000).toISOString().slice(0, endOfSeconds);
}

function readInstant(reader: BinaryReader): Instant | undefined {
  const end = readEndOfMessage(reader);
  if (reader.pos === end) return undefined;
  const instant = readFields(reader, end, { seconds: 0, nanos: 0 }, takeInstant);
  return instant.seconds === goZeroSecond && instant.nanos === 0 ? undefined : instant;
}

function takeInstant(into: Instant, number: number, wireType: WireType, reader: BinaryReader): boolean {
  if (number !== 1 && number !== 2) return false;
  expectWireType(wireType, WireType.Varint);
  if (number === 1) into.seconds = Number(reader.int64());
  else into.nanos = reader.int32();
  return true;
}

function writeInstant(writer: BinaryWriter, seconds: number, nanos: number): void {
  writeInteger(writer.fork().uint32(0x08), seconds).uint32(0x10).int32(nanos).join();
}
