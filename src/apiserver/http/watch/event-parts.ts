/** How much is written at once, unless a single frame is longer. */
const partBytes = 64 * 1024;

/** Some frames in a row, and the bytes in which they are sent. */
export interface EventPart {
  frames: readonly Uint8Array[];
  bytes: Uint8Array;
}

type ByFirst = Map<Uint8Array, EventPart>;

/**
 * Puts frames together into what is written at once. Watchers mostly get the same frames in the same turn of the event
 * loop, so what was made for one is kept for the others until that turn is over.
 */
export class EventParts {
  readonly #plain: ByFirst = new Map();
  readonly #chunked: ByFirst = new Map();
  #forgetting = false;

  /** The part that begins with `frames[from]`, with the chunked framing of HTTP/1.1 (RFC 9112, 7.1) or without. */
  next(frames: readonly Uint8Array[], from: number, chunked: boolean): EventPart {
    const known = chunked ? this.#chunked : this.#plain;
    const first = frames[from];
    if (first === undefined) throw new RangeError(`there is no frame ${from}`);
    const made = known.get(first);
    if (made?.frames.every((frame, index) => frame === frames[from + index])) return made;
    const part = partOf(frames, from, chunked);
    known.set(first, part);
    this.#forgetSoon();
    return part;
  }

  #forgetSoon(): void {
    if (this.#forgetting) return;
    this.#forgetting = true;
    setImmediate(() => {
      this.#forgetting = false;
      this.#plain.clear();
      this.#chunked.clear();
    });
  }
}

function partOf(all: readonly Uint8Array[], from: number, chunked: boolean): EventPart {
  let end = from;
  let length = 0;
  do length += all[end++]?.length ?? 0;
  while (end < all.length && length + (all[end]?.length ?? 0) <= partBytes);
  const frames = all.slice(from, end);
  const [only, ...more] = frames;
  if (chunked) return { frames, bytes: Buffer.concat([chunkHead(length), ...frames, lineEnd]) };
  return { frames, bytes: only !== undefined && more.length === 0 ? only : Buffer.concat(frames, length) };
}

const lineEnd = Buffer.from('\r\n');
/** What ends a chunked body. */
export const lastChunk = Buffer.from('0\r\n\r\n');

function chunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}
