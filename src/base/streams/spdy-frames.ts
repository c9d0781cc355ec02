import type { FrameFormat } from './frame-reader.ts';
import { FrameError } from './frame-reader.ts';

/*
 * Frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, 2.2), as the reference's clients and runtimes speak it: without the windows
 * of its flow control, so the connection's own back pressure holds all its streams.
 *
 *     data      0 stream:31                 flags:8 length:24 payload
 *     control   1 version:15 type:16        flags:8 length:24 payload
 */

export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  ping: 6,
  goAway: 7,
  headers: 8,
} as const;

/** Of data, SYN_STREAM and SYN_REPLY: this side sends nothing more on the stream. */
const finFlag = 1;
const version = 3;
const headBytes = 8;
const maxLength = 0xff_ff_ff;

export const spdyFormat: FrameFormat = {
  maxHeadBytes: headBytes,
  headBytes: () => headBytes,
  payloadBytes(head) {
    if (isControl(head) && (head.readUInt16BE(0) & 0x7fff) !== version)
      throw new FrameError(`no frame of SPDY/3: ${head.toString('hex')}`);
    return head.readUIntBE(5, 3);
  },
};

/** What the head of a frame says. */
export interface SpdyHead {
  /** Undefined: a frame of data. */
  readonly type: number | undefined;
  /** Of data; 0 of others, which have it in their payload. */
  readonly streamId: number;
  readonly isFin: boolean;
}

export function readSpdyHead(head: Buffer): SpdyHead {
  const isFin = (head.readUInt8(4) & finFlag) !== 0;
  if (isControl(head)) return { type: head.readUInt16BE(2), streamId: 0, isFin };
  return { type: undefined, streamId: head.readUInt32BE(0), isFin };
}

function isControl(head: Buffer): boolean {
  return (head.readUInt8(0) & 0x80) !== 0;
}

/** Of a frame of data; its payload follows. */
export function dataHead(streamId: number, length: number, isFin = false): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt8(isFin ? finFlag : 0, 4);
  head.writeUIntBE(length, 5, 3);
  return head;
}

export function controlFrame(type: number, payload: Buffer): Buffer {
  if (payload.length > maxLength) throw new RangeError(`a frame of ${payload.length} bytes`);
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Opens a stream, of the highest priority. */
export function synStream(streamId: number, headerBlock: Buffer): Buffer {
  const ids = Buffer.alloc(10);
  ids.writeUInt32BE(streamId, 0);
  return controlFrame(frameTypes.synStream, Buffer.concat([ids, headerBlock]));
}

export function rstStream(streamId: number, status: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(streamId, 0);
  payload.writeUInt32BE(status, 4);
  return controlFrame(frameTypes.rstStream, payload);
}
