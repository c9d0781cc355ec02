import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { ListMeta } from '../../kinds/index.ts';
import { listMeta } from '../../kinds/index.ts';
import { encodeMessage } from './encode.ts';
import { writeBytes, writeText } from './wire.ts';

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
