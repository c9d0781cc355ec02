import type { Duplex } from 'node:stream';
import { FrameError, FrameReader } from './frame-reader.ts';
import type { SpdyHead } from './spdy-frames.ts';
import {
  controlFrame,
  dataHead,
  frameTypes,
  readSpdyHead,
  rstStream,
  spdyFormat,
  synStream,
} from './spdy-frames.ts';
import type { SpdyHeaders } from './spdy-headers.ts';
import { formatHeaderBlock } from './spdy-headers.ts';

/** Gets what the server sends on a stream. */
export interface SpdySink {
  onData(piece: Buffer): void;
  /** The server sends nothing more: it said so, it gave the stream up, or its connection is over. Called once. */
  onEnd(): void;
}

/** The server keeps a frame in memory until it is whole. */
const maxDataBytes = 32 * 1024;
const refusedStream = 3;

/**
 * The client's side of a connection of SPDY/3.1: it opens streams, and the server opens none. A connection has one back pressure for
 * all its streams. Payload is given on as it comes, and of what a server says in headers nothing is needed: so nothing is kept.
 */
export class SpdyClient {
  readonly #socket: Duplex;
  readonly #reader: FrameReader;
  readonly #sinks = new Map<number, SpdySink>();
  #lastStreamId = -1;
  #head: SpdyHead = { type: undefined, streamId: 0, isFin: false };
  /** The first bytes of the payload of a control frame. */
  #start: Buffer = Buffer.alloc(0);

  /** The socket stands at the first byte of the protocol, and belongs to the client from now on. */
  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#reader = new FrameReader(spdyFormat, {
      onHead: (head) => {
        this.#head = readSpdyHead(head);
        this.#start = Buffer.alloc(0);
      },
      onPayload: (piece) => this.#takePayload(piece),
      onEnd: () => this.#endFrame(),
    });
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      for (const streamId of [...this.#sinks.keys()]) this.#endStream(streamId);
    });
    socket.resume();
  }

  /** Returns the id of a new stream. */
  open(headers: SpdyHeaders, sink: SpdySink): number {
    this.#lastStreamId += 2;
    this.#sinks.set(this.#lastStreamId, sink);
    this.#socket.write(synStream(this.#lastStreamId, formatHeaderBlock(headers, this.#lastStreamId === 1)));
    return this.#lastStreamId;
  }

  /** False when the connection wants no more until it drains. */
  write(streamId: number, bytes: Buffer): boolean {
    if (!this.#socket.writable) return true; // the ends of its streams are about to come
    this.#socket.cork();
    for (let at = 0; at < bytes.length; at += maxDataBytes) {
      const piece = bytes.subarray(at, at + maxDataBytes);
      this.#socket.write(dataHead(streamId, piece.length));
      this.#socket.write(piece);
    }
    this.#socket.uncork();
    return !this.#socket.writableNeedDrain;
  }

  /** Nothing more is written on the stream. */
  end(streamId: number): void {
    if (this.#socket.writable) this.#socket.write(dataHead(streamId, 0, true));
  }

  /** The streams that are open end. */
  destroy(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    try {
      this.#reader.read(bytes);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#socket.destroy();
    }
  }

  #takePayload(piece: Buffer): void {
    const { type, streamId } = this.#head;
    if (type === undefined) this.#sinks.get(streamId)?.onData(piece);
    else if (this.#start.length < 8) this.#start = Buffer.concat([this.#start, piece.subarray(0, 8)]);
  }

  #endFrame(): void {
    const { type, streamId, isFin } = this.#head;
    if (type === undefined) {
      if (isFin) this.#endStream(streamId);
      return;
    }
    const start = this.#start;
    const needs = [frameTypes.synStream, frameTypes.synReply, frameTypes.rstStream, frameTypes.ping].some(
      (each) => each === type,
    );
    if (!needs) return;
    if (start.length < 4) throw new FrameError(`a control frame of ${start.length} bytes`);
    this.#control(type, start.readUInt32BE(0), isFin);
  }

  #control(type: number, id: number, isFin: boolean): void {
    const streamId = id & 0x7f_ff_ff_ff;
    if (type === frameTypes.rstStream || (type === frameTypes.synReply && isFin)) this.#endStream(streamId);
    if (type === frameTypes.synStream) this.#answer(rstStream(streamId, refusedStream));
    if (type === frameTypes.ping && id % 2 === 0)
      this.#answer(controlFrame(frameTypes.ping, this.#start.subarray(0, 4)));
  }

  /** A server that floods and does not read gets no answers. */
  #answer(frame: Buffer): void {
    if (this.#socket.writable && !this.#socket.writableNeedDrain) this.#socket.write(frame);
  }

  #endStream(streamId: number): void {
    const sink = this.#sinks.get(streamId);
    this.#sinks.delete(streamId);
    sink?.onEnd();
  }
}
