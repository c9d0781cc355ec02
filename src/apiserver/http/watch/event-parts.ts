/** How much is written at once, unless a single frame is longer. */
const partBytes = 64 * 1024;

/** Consecutive frames, and the bytes that are sent for them, in one or several buffers. */
export interface EventPart {
  frames: readonly Uint8Array[];
  bytes: readonly Uint8Array[];
}

type ByFirst = Map<Uint8Array, EventPart>;

/**
 * Joins frames into the parts that are written at once. Watchers mostly get the same frames in the same turn of the event
 * loop, so a part that was made for one watcher is kept for the others until the end of that turn.
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
    const part = createPart(frames, from, chunked);
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

function createPart(all: readonly Uint8Array[], from: number, chunked: boolean): EventPart {
  let end = from;
  let length = 0;
  do length += all[end++]?.length ?? 0;
  while (end < all.length && length + (all[end]?.length ?? 0) <= partBytes);
  const frames = all.slice(from, end);
  const [, ...more] = frames;
  const bytes = chunked ? [renderChunkHead(length), ...frames, crlf] : frames;
  // a copy of a few events costs less than a write of several buffers, and one of many events more
  const isLong = length > partBytes && more.length === 0;
  return { frames, bytes: isLong || bytes.length === 1 ? bytes : [Buffer.concat(bytes)] };
}

const crlf = Buffer.from('\r\n');
/** Ends a chunked body. */
export const lastChunk = Buffer.from('0\r\n\r\n');

function renderChunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}
