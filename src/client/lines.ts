const newline = 0x0a;

/**
 * Splits a stream of bytes into lines of text, without empty ones; an unfinished last line counts. As soon as a line
 * exceeds `maxBytes`, `undefined` is yielded in its place and the rest of it is skipped. No more than a line is buffered.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | undefined, void, undefined> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      if (line.append(chunk.subarray(from, at)) === 'tooLong') yield undefined;
      from = at + 1;
      const text = line.take();
      if (text !== undefined) yield text;
    }
    if (line.append(chunk.subarray(from)) === 'tooLong') yield undefined;
  }
  const text = line.take();
  if (text !== undefined) yield text;
}

class LineBuffer {
  readonly #maxBytes: number;
  readonly #utf8 = new TextDecoder();
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns `tooLong` once for a line: when it exceeds the limit. */
  append(bytes: Uint8Array): 'tooLong' | undefined {
    const wasTooLong = this.#bytes > this.#maxBytes;
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) {
      if (bytes.length > 0) this.#parts.push(bytes);
      return undefined;
    }
    this.#parts = [];
    return wasTooLong ? undefined : 'tooLong';
  }

  /** Ends the line and returns it; undefined if it is empty or was too long. */
  take(): string | undefined {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (parts.length === 0) return undefined;
    return this.#utf8.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  }
}
