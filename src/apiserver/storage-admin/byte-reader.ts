import { createHash } from 'node:crypto';

/** Reads lines and given numbers of bytes from a stream of chunks, and keeps the checksum of all that was read. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #hash = createHash('sha256');
  /** Received bytes that were not read yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Up to the next line end, without it; undefined when none comes within `limitBytes`. */
  async line(limitBytes: number): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(10);
      if (end > limitBytes || (end < 0 && this.#rest.length > limitBytes)) return undefined;
      if (end >= 0) return this.#take(end + 1).toString('utf8', 0, end);
      if (!(await this.#more(this.#rest.length + 1))) return undefined;
    }
  }

  /** Undefined when the stream ends before. */
  async exactly(count: number): Promise<Buffer | undefined> {
    return (await this.#more(count)) ? Buffer.from(this.#take(count)) : undefined;
  }

  async isAtEnd(): Promise<boolean> {
    return !(await this.#more(1));
  }

  /** Of all that was taken so far, in hexadecimal. */
  sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  #take(count: number): Buffer {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    this.#hash.update(taken);
    return taken;
  }

  /** Waits for more chunks. Returns whether `count` bytes are there. */
  async #more(count: number): Promise<boolean> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done) break;
      parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      length += next.value.byteLength;
    }
    if (parts.length > 1) this.#rest = Buffer.concat(parts);
    return length >= count;
  }
}
