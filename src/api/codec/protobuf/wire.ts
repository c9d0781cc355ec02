import type { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { WireType } from '@bufbuild/protobuf/wire';
import { ProtobufError } from './error.ts';

/** How deep groups that are skipped may nest; the reference has no groups. */
const groupDepthLimit = 32;
const maxVarintLength = 10;

/**
 * Reads the length of a message and returns the offset of its end. Nothing is allocated by that length. Whether the end is
 * within the enclosing message is checked where that one ends (`expectEnd`): a message must end where its length says.
 */
export function readEndOfMessage(reader: BinaryReader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new ProtobufError('', `premature EOF: ${length} bytes are announced`);
  return end;
}

export function expectEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new ProtobufError('', 'a field goes beyond the end of its message');
}

export function expectWireType(actual: WireType, expected: WireType): void {
  if (actual === expected) return;
  const message = `wrong wire type ${actual} (${WireType[actual]}), expected ${expected} (${WireType[expected]})`;
  throw new ProtobufError('', message);
}

/** Skips a field of an unknown number. */
export function skipField(reader: BinaryReader, number: number, wireType: WireType): void {
  const start = reader.pos;
  reader.skip(wireType, number, groupDepthLimit);
  if (wireType === WireType.Varint && reader.pos - start > maxVarintLength)
    throw new ProtobufError('', 'invalid varint');
}

/** Reads one field into `into`; false when the number is unknown, so that the caller skips the field. */
export type TakeField<T> = (into: T, number: number, wireType: WireType, reader: BinaryReader) => boolean;

/** Reads the fields of a small message up to `end`. */
export function readFields<T>(reader: BinaryReader, end: number, into: T, take: TakeField<T>): T {
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (!take(into, number, wireType, reader)) skipField(reader, number, wireType);
  }
  expectEnd(reader, end);
  return into;
}

/** Number and wire type of a field as a tag, to be written with `uint32`. */
export function toTag(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

/** Writes a length-delimited field. */
export function writeBytes(writer: BinaryWriter, number: number, bytes: Uint8Array): void {
  writer.uint32(toTag(number, WireType.LengthDelimited)).bytes(bytes);
}

export function writeText(writer: BinaryWriter, number: number, text: string): void {
  writer.uint32(toTag(number, WireType.LengthDelimited)).string(text);
}

/** Writes the varint of a signed 64-bit integer; one that fits in 32 bits needs no bigint. */
export function writeInteger(writer: BinaryWriter, value: number): BinaryWriter {
  return value >= 0 && value <= 0xffff_ffff ? writer.uint32(value) : writer.int64(value);
}

/** The same bytes as a Buffer, without a copy. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function expectText(value: unknown): string {
  if (typeof value !== 'string') throw new ProtobufError('', 'expected a text');
  return value;
}

export function expectNumber(value: unknown): number {
  if (typeof value !== 'number') throw new ProtobufError('', 'expected a number');
  return value;
}
