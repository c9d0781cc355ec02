import type { Carried, CloseNotice } from './close-notice.ts';
import { formatFailure } from './close-notice.ts';
import { FrameError, FrameReader } from './frame-reader.ts';
import type { SpdyHead } from './spdy-frames.ts';
import { controlFrame, dataHead, frameTypes, readSpdyHead, rstStream, spdyFormat } from './spdy-frames.ts';
import { HeaderReader } from './spdy-headers.ts';

/** In front of the block of headers, of the frames that have one. */
const beforeHeaders: ReadonlyMap<number, number> = new Map([
  [frameTypes.synStream, 10],
  [frameTypes.synReply, 4],
  [frameTypes.headers, 4],
]);
const maxControlBytes = 64 * 1024;
/** Far more than connections are forwarded at once. */
const maxStreams = 10_000;
/** Of blocks of headers that wait to be read, each with what waiting costs. */
const maxWaitingBytes = 1024 * 1024;
const blockCost = 500;

/** What was opened is needed no more (2.6.3). */
const cancel = 5;

/** Of a server: its id is even (2.6.5). */
const ping = controlFrame(frameTypes.ping, Buffer.from([0, 0, 0, 2]));

type StreamType = 'error' | 'other';

/**
 * Tells an error on each stream of errors that is open. Which those are, the headers say with which the client opened them. The
 * other streams of a command end, so that its client waits for nothing more. Those of ports are reset behind that: what was not
 * whole must not look so, and a client that waited for more of them might go before it has shown the error.
 */
export class SpdyNotice implements CloseNotice {
  readonly #protocol: string;
  readonly #carried: Carried;
  readonly #client: FrameReader;
  readonly #server: FrameReader;
  readonly #headers = new HeaderReader();
  readonly #open = new Map<number, StreamType>();
  /** The blocks of headers that came are read, in their order. */
  #reading: Promise<void> = Promise.resolve();
  #waitingBytes = 0;
  #isLost = false;

  constructor(protocol: string, carried: Carried) {
    this.#protocol = protocol;
    this.#carried = carried;
    this.#client = new FrameReader(
      spdyFormat,
      new ControlFrames((head, payload) => this.#fromClient(head, payload)),
    );
    this.#server = new FrameReader(
      spdyFormat,
      new ControlFrames((head, payload) => this.#fromServer(head, payload)),
    );
  }

  get neededBytes(): number {
    return this.#isLost ? 0 : this.#server.neededBytes;
  }

  get probe(): Buffer {
    return this.#isLost ? Buffer.alloc(0) : ping;
  }

  get hasOpen(): boolean {
    return this.#open.values().some((type) => type === 'error');
  }

  fromClient(bytes: Buffer): void {
    this.#read(this.#client, bytes);
  }

  fromServer(bytes: Buffer): void {
    this.#read(this.#server, bytes);
  }

  #read(reader: FrameReader, bytes: Buffer): void {
    if (this.#isLost) return;
    try {
      reader.read(bytes);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#lose();
    }
  }

  #fromClient({ type }: SpdyHead, payload: Buffer): void {
    if (type === undefined) return;
    if (type === frameTypes.rstStream) this.#forget(readStreamId(payload));
    const before = beforeHeaders.get(type);
    if (before === undefined) return;
    if (payload.length < before) throw new FrameError('a frame without its stream');
    const block = Buffer.from(payload.subarray(before));
    const streamId = type === frameTypes.synStream ? readStreamId(payload) : undefined;
    if (streamId !== undefined && this.#open.size < maxStreams) this.#open.set(streamId, 'other');
    this.#waitingBytes += block.length + blockCost;
    if (this.#waitingBytes > maxWaitingBytes)
      throw new FrameError('headers come faster than they can be read');
    this.#reading = this.#reading.then(() => this.#readHeaders(streamId, block));
  }

  async #readHeaders(streamId: number | undefined, block: Buffer): Promise<void> {
    this.#waitingBytes -= block.length + blockCost;
    if (this.#isLost) return;
    try {
      const headers = await this.#headers.read(block);
      if (streamId !== undefined && this.#open.has(streamId) && headers.get('streamtype') === 'error')
        this.#open.set(streamId, 'error');
    } catch {
      this.#lose();
    }
  }

  #fromServer({ type, streamId, isFin }: SpdyHead, payload: Buffer): void {
    if (type === undefined && isFin) this.#forget(streamId);
    if (type === frameTypes.rstStream || (type === frameTypes.synReply && isFin))
      this.#forget(readStreamId(payload));
  }

  #forget(streamId: number): void {
    this.#open.delete(streamId);
  }

  /** Nothing is known of the streams any more. */
  #lose(): void {
    this.#isLost = true;
    this.#open.clear();
    this.#headers.close();
  }

  async frames(text: string): Promise<Buffer> {
    await this.#reading;
    const streams = [...this.#open];
    const failure = formatFailure(this.#protocol, text);
    const others = streams.filter(([, type]) => type === 'other');
    const errors = streams.filter(([, type]) => type === 'error');
    const failures = errors.flatMap(([streamId]) => [dataHead(streamId, failure.length, true), failure]);
    return Buffer.concat(
      this.#carried === 'command'
        ? [...others.map(([streamId]) => dataHead(streamId, 0, true)), ...failures]
        : [...failures, ...others.map(([streamId]) => rstStream(streamId, cancel))],
    );
  }

  [Symbol.dispose](): void {
    this.#lose();
  }
}

/** Streams have 31 bits. */
function readStreamId(payload: Buffer): number {
  if (payload.length < 4) throw new FrameError('a frame without its stream');
  return payload.readUInt32BE(0) & 0x7f_ff_ff_ff;
}

/** Gives each frame when it is whole, with the payload if it is a control frame's. */
class ControlFrames {
  readonly #onFrame: (head: SpdyHead, payload: Buffer) => void;
  #head: SpdyHead = { type: undefined, streamId: 0, isFin: false };
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(onFrame: (head: SpdyHead, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  onHead(head: Buffer): void {
    this.#head = readSpdyHead(head);
    [this.#pieces, this.#length] = [[], 0];
  }

  onPayload(piece: Buffer): void {
    if (this.#head.type === undefined) return;
    this.#length += piece.length;
    if (this.#length > maxControlBytes)
      throw new FrameError(`a control frame of more than ${maxControlBytes} bytes`);
    this.#pieces.push(Buffer.from(piece));
  }

  onEnd(): void {
    this.#onFrame(this.#head, Buffer.concat(this.#pieces));
  }
}
