import type { Carried, CloseNotice } from './close-notice.ts';
import { formatFailure } from './close-notice.ts';
import type { FrameFormat } from './frame-reader.ts';
import { FrameError, FrameReader } from './frame-reader.ts';

/** RFC 6455, 5.2. */
export const webSocketFormat: FrameFormat = {
  maxHeadBytes: 14,
  headBytes(head) {
    if (head.length < 2) return 2;
    const second = head.readUInt8(1);
    const length = second & 0x7f;
    return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + ((second & 0x80) === 0 ? 0 : 4);
  },
  payloadBytes(head) {
    const length = head.readUInt8(1) & 0x7f;
    if (length < 126) return length;
    if (length === 126) return head.readUInt16BE(2);
    const large = head.readBigUInt64BE(2);
    if (large <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(large);
    throw new FrameError(`a frame of ${large} bytes`);
  },
};

const opcodes = { text: 1, binary: 2, close: 8, pong: 10 };
/** RFC 6455, 7.4.1. Behind an error that was sent the closure is normal: of any other, clients report that instead. */
const closures = { normal: 1000, goingAway: 1001 };
/** Of a control frame, less the code. */
const maxReasonBytes = 123;

/** Tells an error on the channel of errors, where there is one, and then why it closes. */
export class WebSocketNotice implements CloseNotice {
  readonly #protocol: string;
  readonly #carried: Carried;
  readonly #reader: FrameReader;
  #isInMessage = false;
  #isClosed = false;
  #isLost = false;

  constructor(protocol: string, carried: Carried) {
    this.#protocol = protocol;
    this.#carried = carried;
    this.#reader = new FrameReader(webSocketFormat, {
      onHead: (head) => this.#see(head.readUInt8(0)),
      onPayload: () => undefined,
      onEnd: () => undefined,
    });
  }

  get neededBytes(): number {
    return this.#isLost ? 0 : this.#reader.neededBytes;
  }

  get probe(): Buffer {
    return this.hasOpen ? frame(opcodes.pong, Buffer.alloc(0)) : Buffer.alloc(0);
  }

  get hasOpen(): boolean {
    return !this.#isLost && !this.#isClosed;
  }

  fromClient(): void {
    // it masks its frames, and nothing in them matters here
  }

  fromServer(bytes: Buffer): void {
    if (this.#isLost) return;
    try {
      this.#reader.read(bytes);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#isLost = true;
    }
  }

  #see(first: number): void {
    const opcode = first & 0x0f;
    if (opcode === opcodes.close) this.#isClosed = true;
    if (opcode < opcodes.close) this.#isInMessage = (first & 0x80) === 0;
  }

  frames(text: string): Promise<Buffer> {
    if (!this.hasOpen) return Promise.resolve(Buffer.alloc(0));
    const hasErrors = this.#carried === 'command' && !this.#isInMessage;
    if (!hasErrors) return Promise.resolve(closeFrame(closures.goingAway, text));
    return Promise.resolve(Buffer.concat([this.#errorFrame(text), closeFrame(closures.normal, text)]));
  }

  #errorFrame(text: string): Buffer {
    const failure = formatFailure(this.#protocol, text);
    if (!this.#protocol.includes('base64')) return frame(opcodes.binary, Buffer.from([3, ...failure]));
    return frame(opcodes.text, Buffer.from(`3${failure.toString('base64')}`));
  }

  [Symbol.dispose](): void {
    // it has nothing of its own
  }
}

function closeFrame(code: number, text: string): Buffer {
  const start = Buffer.alloc(2);
  start.writeUInt16BE(code);
  return frame(opcodes.close, Buffer.concat([start, Buffer.from(cutText(text, maxReasonBytes))]));
}

/** Cuts between characters. */
export function cutText(text: string, maxBytes: number): string {
  let cut = text;
  while (Buffer.byteLength(cut) > maxBytes) cut = [...cut].slice(0, -1).join('');
  return cut;
}

function frame(opcode: number, payload: Buffer): Buffer {
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
  const head = Buffer.from([0x80 | opcode, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
