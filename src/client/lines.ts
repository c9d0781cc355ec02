const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines of text; throws what `tooLong` makes when one has more than `limitBytes`. Empty
 * lines are left out; an unfinished last line counts.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
  tooLong: (limitBytes: number) => Error,
): AsyncGenerator<string, void, undefined> {
  const utf8 = new TextDecoder();
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const hold = (bytes: Uint8Array): void => {
    heldBytes += bytes.length;
    if (heldBytes > limitBytes) throw tooLong(limitBytes);
    if (bytes.length > 0) held.push(bytes);
  };
  const release = (): string => {
    const line = utf8.decode(held.length === 1 ? held[0] : Buffer.concat(held));
    held = [];
    heldBytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      if (heldBytes > 0) yield release();
    }
    hold(chunk.subarray(from));
  }
  if (heldBytes > 0) yield release();
}
