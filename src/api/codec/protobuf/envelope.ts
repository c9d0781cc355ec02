import type { WireType } from '@bufbuild/protobuf/wire';
import { BinaryReader, BinaryWriter, WireType as WireTypes } from '@bufbuild/protobuf/wire';
import { errorAt, ProtobufError } from './error.ts';
import { expectWireType, readEndOfMessage, readFields, toTag, writeText } from './wire.ts';

/** `k8s` and a zero byte. */
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** The type of the message in an envelope. */
export interface EnvelopeType {
  apiVersion: string;
  kind: string;
}

export interface Envelope extends EnvelopeType {
  /** The message; a view of the input. */
  raw: Uint8Array;
}

/**
 * Wraps a message with its type: the magic bytes and `Unknown` {1: {1: apiVersion, 2: kind}, 2: raw, 3: contentEncoding,
 * 4: contentType}, the last two empty, as the reference writes them (specification, section 2.4).
 */
export function encodeEnvelope(type: EnvelopeType, raw: Uint8Array): Uint8Array {
  const opening = new BinaryWriter().raw(openEnvelope(type)).uint32(raw.length);
  return opening.raw(raw).raw(envelopeEnd).finish();
}

/** What stands before the length of the message in an envelope. */
export function openEnvelope({ apiVersion, kind }: EnvelopeType): Uint8Array {
  const writer = new BinaryWriter().raw(magic).uint32(0x0a).fork();
  writeText(writer, 1, apiVersion);
  writeText(writer, 2, kind);
  return writer.join().uint32(toTag(2, WireTypes.LengthDelimited)).finish();
}

/** What stands behind the message in an envelope. */
export const envelopeEnd = Uint8Array.of(0x1a, 0, 0x22, 0);

interface Unknown extends Envelope {
  contentEncoding: string;
}

/** Throws ProtobufError when the bytes are not an envelope, or its content is compressed. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw new ProtobufError('', 'the protobuf envelope is missing: the body does not begin with 6b 38 73 00');
  const into: Unknown = { apiVersion: '', kind: '', raw: new Uint8Array(), contentEncoding: '' };
  try {
    readFields(
      new BinaryReader(bytes.subarray(magic.length)),
      bytes.length - magic.length,
      into,
      takeUnknown,
    );
  } catch (error) {
    throw errorAt('', error);
  }
  const { contentEncoding, ...envelope } = into;
  if (contentEncoding !== '')
    throw new ProtobufError(
      'contentEncoding',
      'must be empty: what is in the envelope must not be compressed',
    );
  return envelope;
}

function takeUnknown(into: Unknown, number: number, wireType: WireType, reader: BinaryReader): boolean {
  if (number < 1 || number > 3) return false;
  expectWireType(wireType, WireTypes.LengthDelimited);
  if (number === 1) readFields(reader, readEndOfMessage(reader), into, takeTypeMeta);
  else if (number === 2) into.raw = reader.bytes();
  else into.contentEncoding = reader.string(true);
  return true;
}

function takeTypeMeta(into: Unknown, number: number, wireType: WireType, reader: BinaryReader): boolean {
  if (number !== 1 && number !== 2) return false;
  expectWireType(wireType, WireTypes.LengthDelimited);
  const text = reader.string(true);
  if (number === 1) into.apiVersion = text;
  else into.kind = text;
  return true;
}
