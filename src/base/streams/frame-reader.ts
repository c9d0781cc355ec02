/** How the frames of a protocol look: a head of few bytes, which says how many follow it. */
export interface FrameFormat {
  readonly maxHeadBytes: number;
  /** Of the whole head, as far as its first bytes tell; at least one more than are there, or what it has. */
  headBytes(head: Buffer): number;
  /** How many bytes follow this head, which is whole. Throws for what no frame has. */
  payloadBytes(head: Buffer): number;
}

/** Gets each frame: its head, the pieces of its payload as they come, its end. */
export interface FrameSink {
  onHead(head: Buffer): void;
  onPayload(piece: Buffer): void;
  onEnd(): void;
}

/** What else than a frame of the protocol came. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Finds the frames in the bytes of one direction, however they are cut. Keeps nothing but a head that is not whole. */
export class FrameReader {
  readonly #format: FrameFormat;
  readonly #sink: FrameSink;
  #head: Buffer = Buffer.alloc(0);
  /** Undefined before the head is whole. */
  #payloadLeft: number | undefined;

  constructor(format: FrameFormat, sink: FrameSink) {
    this.#format = format;
    this.#sink = sink;
  }

  /** How many bytes are known to be missing of the frame that has begun; 0 between frames. */
  get neededBytes(): number {
    if (this.#payloadLeft !== undefined) return this.#payloadLeft;
    return this.#head.length === 0 ? 0 : this.#format.headBytes(this.#head) - this.#head.length;
  }

  /** Throws a FrameError, also what the sink throws; nothing may be read behind that. */
  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.subarray(at);
      at +=
        this.#payloadLeft === undefined ? this.#readHead(rest) : this.#readPayload(rest, this.#payloadLeft);
    }
  }

  #readHead(bytes: Buffer): number {
    const before = this.#head.length;
    const missing = bytes.subarray(0, this.#format.maxHeadBytes - before);
    const known = before === 0 ? missing : Buffer.concat([this.#head, missing]);
    const wanted = this.#format.headBytes(known);
    if (known.length < wanted) {
      this.#head = Buffer.from(known); // a copy: the memory of what came belongs to others
      return missing.length;
    }
    const head = known.subarray(0, wanted);
    this.#head = Buffer.alloc(0);
    const payloadBytes = this.#format.payloadBytes(head);
    this.#sink.onHead(head);
    if (payloadBytes === 0) this.#sink.onEnd();
    else this.#payloadLeft = payloadBytes;
    return wanted - before;
  }

  #readPayload(bytes: Buffer, left: number): number {
    const piece = bytes.subarray(0, left);
    this.#payloadLeft = left - piece.length;
    this.#sink.onPayload(piece);
    if (this.#payloadLeft === 0) {
      this.#payloadLeft = undefined;
      this.#sink.onEnd();
    }
    return piece.length;
  }
}
