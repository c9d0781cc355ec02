import type { WriteInto } from './collection.ts';
import type { Output } from './convert/index.ts';
import { sizeOfVarint, writeVarint } from './convert/index.ts';
import type { EnvelopeType } from './envelope.ts';
import { envelopeEnd, openEnvelope } from './envelope.ts';

/** Writes frames of a watch in place: the bytes of `encodeWatchEvent`, without a copy of the message for each layer. */
export interface EventFrames {
  /** Writes the event of a type, with a message; returns where it ends. Beyond the end of the buffer, it did not fit. */
  write(type: string, writeMessage: WriteInto, into: Uint8Array, from: number): number;
}

/** For objects of one type. */
export function eventFrames(envelope: EnvelopeType): EventFrames {
  const opening = openEnvelope(envelope);
  return {
    write(type, writeMessage, into, from) {
      const messageAt = from + maxHeadBytes + type.length + opening.length;
      const messageEnd = writeMessage(into, messageAt);
      if (messageEnd > into.length) return messageEnd;
      const output = { bytes: into, end: from };
      writeHead(output, type, opening, messageEnd - messageAt);
      into.copyWithin(output.end, messageAt, messageEnd);
      output.end += messageEnd - messageAt;
      append(output, envelopeEnd);
      return output.end;
    },
  };
}

/** The length of the frame, three tags, the length of the type, and those of two messages and the object. */
const maxHeadBytes = 4 + 3 + 1 + 3 * 5;

/** Everything before the message: {1: type, 2: {1: the object in its envelope}}, all with their lengths. */
function writeHead(output: Output, type: string, opening: Uint8Array, messageBytes: number): void {
  const objectBytes = opening.length + sizeOfVarint(messageBytes) + messageBytes + envelopeEnd.length;
  const outerBytes = 1 + sizeOfVarint(objectBytes) + objectBytes;
  const frameBytes = 2 + type.length + 1 + sizeOfVarint(outerBytes) + outerBytes;
  for (const shift of [24, 16, 8, 0]) output.bytes[output.end++] = (frameBytes >>> shift) & 0xff;
  writeVarint(output, 0x0a);
  writeVarint(output, type.length);
  for (let index = 0; index < type.length; index++) output.bytes[output.end++] = type.charCodeAt(index);
  writeVarint(output, 0x12);
  writeVarint(output, outerBytes);
  writeVarint(output, 0x0a);
  writeVarint(output, objectBytes);
  append(output, opening);
  writeVarint(output, messageBytes);
}

function append(output: Output, bytes: Uint8Array): void {
  for (const byte of bytes) output.bytes[output.end++] = byte;
}
