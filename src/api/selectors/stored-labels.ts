import type { JsonCursor } from '../json/index.ts';
import {
  backslash,
  closeObject,
  colon,
  openObject,
  quote,
  skipValue,
  takeByte,
  takeSeparator,
  UnusualJson,
  unusual,
} from '../json/index.ts';

export type Labels = Readonly<Record<string, string>>;

/**
 * Reads the labels of the metadata that open at `at` in the JSON of an object, as this program has written it, without
 * parsing the rest: those with the given keys, or all of them. Undefined: the JSON is written in another way and must be
 * parsed.
 */
export function readStoredLabels(
  json: Uint8Array,
  at: number,
  keys?: readonly LabelKey[],
): Labels | undefined {
  const cursor = { json, at };
  try {
    return findLabels(cursor) ? readLabels(cursor, keys) : none;
  } catch (error) {
    if (error instanceof UnusualJson) return undefined;
    throw error;
  }
}

/** A key to search for, with the quotes that JSON has around it. */
export interface LabelKey {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export function labelKey(name: string): LabelKey {
  return { name, bytes: Buffer.from(JSON.stringify(name)) };
}

const none: Labels = Object.freeze({});
const labelsKey = Buffer.from('"labels"');
const letterN = 0x6e;

/** Moves to the labels; false where there are none. */
function findLabels(cursor: JsonCursor): boolean {
  takeByte(cursor, openObject);
  if (cursor.json[cursor.at] === closeObject) return false;
  do {
    const isFound = isAt(cursor, labelsKey);
    skipKey(cursor);
    if (isFound) return cursor.json[cursor.at] !== letterN;
    skipValue(cursor);
  } while (takeSeparator(cursor));
  return false;
}

function readLabels(cursor: JsonCursor, keys: readonly LabelKey[] | undefined): Labels {
  takeByte(cursor, openObject);
  if (cursor.json[cursor.at] === closeObject) return none;
  let labels: Record<string, string> | undefined;
  do {
    const start = cursor.at;
    const key = keys?.find(({ bytes }) => isAt(cursor, bytes));
    skipKey(cursor);
    const end = cursor.at - 1;
    const valueAt = skipPlainText(cursor);
    if (keys !== undefined && key === undefined) continue;
    const name = key?.name ?? textOf(cursor, start, end);
    labels ??= {};
    labels[name] = textOf(cursor, valueAt, cursor.at);
  } while (takeSeparator(cursor));
  return labels ?? none;
}

function isAt({ json, at }: JsonCursor, bytes: Uint8Array): boolean {
  for (let offset = 0; offset < bytes.length; offset++) {
    if (json[at + offset] !== bytes[offset]) return false;
  }
  return true;
}

function skipKey(cursor: JsonCursor): void {
  skipPlainText(cursor);
  takeByte(cursor, colon);
}

/** Moves behind a text without escapes, which keys and values of labels never need. Returns where it began. */
function skipPlainText(cursor: JsonCursor): number {
  const { json, at: start } = cursor;
  takeByte(cursor, quote);
  let { at } = cursor;
  for (; ; at++) {
    const byte = json[at];
    if (byte === quote) break;
    if (byte === backslash || byte === undefined) throw unusual(cursor);
  }
  cursor.at = at + 1;
  return start;
}

/** The text between the quotes at two places. */
function textOf({ json }: JsonCursor, start: number, end: number): string {
  return utf8.decode(json.subarray(start + 1, end - 1));
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
