import type { Duplex } from 'node:stream';
import { FrameReader } from '../../src/base/streams/frame-reader.ts';
import { dataHead, frameTypes, readSpdyHead, spdyFormat } from '../../src/base/streams/spdy-frames.ts';
import { HeaderReader } from '../../src/base/streams/spdy-headers.ts';

/** A stream that a client has opened. */
export interface ServedStream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  /** What the client has sent on it. */
  readonly pieces: Buffer[];
  /** The client sends nothing more. */
  isEnded: boolean;
}

/** The server's side of a connection of SPDY/3.1, as a runtime has it. */
export class SpdyServer {
  readonly socket: Duplex;
  readonly streams: ServedStream[] = [];
  /** Types of control frames that came, in their order. */
  readonly controls: number[] = [];
  readonly #headers = new HeaderReader();
  /** Streams appear in the order in which they were opened, and data behind the headers. */
  #work: Promise<void> = Promise.resolve();

  constructor(socket: Duplex) {
    this.socket = socket;
    let head = readSpdyHead(Buffer.alloc(8));
    let payload = Buffer.alloc(0);
    const reader = new FrameReader(spdyFormat, {
      onHead: (bytes) => {
        head = readSpdyHead(bytes);
        payload = Buffer.alloc(0);
      },
      onPayload: (piece) => {
        payload = Buffer.concat([payload, piece]);
      },
      onEnd: () => {
        const [frame, body] = [head, payload];
        this.#work = this.#work.then(() => this.#take(frame, body));
      },
    });
    socket.on('data', (bytes: Buffer) => reader.read(bytes));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => this.#headers.close());
    socket.resume();
  }

  async #take(head: ReturnType<typeof readSpdyHead>, payload: Buffer): Promise<void> {
    const { type, streamId, isFin } = head;
    if (type !== undefined) this.controls.push(type);
    if (type === frameTypes.synStream) {
      const headers = await this.#headers.read(payload.subarray(10));
      this.streams.push({ id: payload.readUInt32BE(0), headers, pieces: [], isEnded: false });
    }
    const stream = this.streams.find(({ id }) => type === undefined && id === streamId);
    if (stream === undefined) return;
    stream.pieces.push(payload);
    stream.isEnded ||= isFin;
  }

  /** The stream of this type. */
  find(streamtype: string): ServedStream | undefined {
    return this.streams.find(({ headers }) => headers.get('streamtype') === streamtype);
  }

  send(streamtype: string, bytes: Buffer | string, isFin = false): boolean {
    const id = this.find(streamtype)?.id ?? 0;
    const payload = Buffer.from(bytes);
    return this.socket.write(Buffer.concat([dataHead(id, payload.length, isFin), payload]));
  }
}
