import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ListMeta } from '../../kinds/index.ts';
import { listMeta } from '../../kinds/index.ts';
import { closeLength } from './convert/index.ts';
import { encodeMessage } from './encode.ts';
import type { EnvelopeType } from './envelope.ts';
import { envelopeEnd, openEnvelope } from './envelope.ts';
import { toTag, writeBytes, writeText } from './wire.ts';

/**
 * Assembles the message of a list from the messages of its items: {1: metadata, 2: items}, the same for every kind of
 * list. The caller adds the envelope, with the kind of the list.
 */
export function encodeList(items: readonly Uint8Array[], metadata: ListMeta): Uint8Array {
  const writer = new BinaryWriter();
  writeBytes(writer, 1, encodeMessage(listMeta, metadata));
  for (const item of items) writeBytes(writer, 2, item);
  return writer.finish();
}

/** What stands in the body of a list before its items, which take so many bytes with their tags and lengths. */
export function encodeListHead(type: EnvelopeType, metadata: ListMeta, itemsBytes: number): Uint8Array {
  const before = encodeList([], metadata);
  const opening = new BinaryWriter().raw(openEnvelope(type)).uint32(before.length + itemsBytes);
  return opening.raw(before).finish();
}

/** What stands behind them. */
export const listEnd = envelopeEnd;

/** Writes something into a buffer from `from` on; returns where it ends. Beyond the end of the buffer, it did not fit. */
export type WriteInto = (into: Uint8Array, from: number) => number;

/** Writes an item of a list, with its tag and length. */
export function writeListItem(writeMessage: WriteInto, into: Uint8Array, from: number): number {
  into[from] = toTag(2, WireType.LengthDelimited);
  const output = { bytes: into, end: writeMessage(into, from + 2) };
  closeLength(output, from + 1);
  return output.end;
}

/**
 * One frame of a watch: its length in four bytes, big-endian, then the event {1: type, 2: {1: object}}. The event itself
 * has no envelope, the object in it has one.
 */
export function encodeWatchEvent(type: string, envelopedObject: Uint8Array): Uint8Array {
  const writer = new BinaryWriter().fixed32(0);
  writeText(writer, 1, type);
  writer.uint32(0x12).fork();
  writeBytes(writer, 1, envelopedObject);
  const frame = writer.join().finish();
  new DataView(frame.buffer).setUint32(0, frame.length - 4);
  return frame;
}
