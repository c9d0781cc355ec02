/** A place in the bytes of JSON that this program has written: without blanks, and valid. */
export interface JsonCursor {
  readonly json: Uint8Array;
  /** What is read next. */
  at: number;
}

/** The JSON is not written as this program writes it, or does not fit what it is read as: it must be parsed. */
export class UnusualJson extends Error {
  override readonly name = 'UnusualJson';
}

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const digitZero = 0x30;
export const openObject = 0x7b;
export const closeObject = 0x7d;
export const openList = 0x5b;
export const closeList = 0x5d;

export function unusual({ at }: JsonCursor): UnusualJson {
  return new UnusualJson(`byte ${at} is not what this program writes there`);
}

/** Reads one byte that must be there. */
export function takeByte(cursor: JsonCursor, byte: number): void {
  if (cursor.json[cursor.at] !== byte) throw unusual(cursor);
  cursor.at++;
}

/** Reads what stands behind a value in an object: whether another one follows. */
export function takeSeparator(cursor: JsonCursor): boolean {
  const byte = cursor.json[cursor.at];
  if (byte !== comma && byte !== closeObject) throw unusual(cursor);
  cursor.at++;
  return byte === comma;
}

/** Moves behind the next value. Returns where it began. */
export function skipValue(cursor: JsonCursor): number {
  const start = cursor.at;
  const byte = cursor.json[start];
  if (byte === quote) skipText(cursor);
  else if (byte === openObject || byte === openList) skipContainer(cursor);
  else skipWord(cursor);
  return start;
}

function skipText(cursor: JsonCursor): void {
  const { json } = cursor;
  let at = cursor.at + 1;
  for (;;) {
    const byte = json[at++];
    if (byte === quote) break;
    if (byte === backslash) at++;
    else if (byte === undefined) throw unusual(cursor);
  }
  cursor.at = at;
}

function skipContainer(cursor: JsonCursor): void {
  const { json } = cursor;
  let depth = 0;
  do {
    const byte = json[cursor.at];
    if (byte === quote) {
      skipText(cursor);
      continue;
    }
    if (byte === openObject || byte === openList) depth++;
    else if (byte === closeObject || byte === closeList) depth--;
    else if (byte === undefined) throw unusual(cursor);
    cursor.at++;
  } while (depth > 0);
}

/** A number, true, false or null. */
function skipWord(cursor: JsonCursor): void {
  const { json } = cursor;
  const start = cursor.at;
  let at = start;
  for (; ; at++) {
    const byte = json[at];
    if (byte === undefined || byte <= 0x20) throw unusual(cursor);
    if (byte === comma || byte === closeObject || byte === closeList) break;
  }
  if (at === start) throw unusual(cursor);
  cursor.at = at;
}
