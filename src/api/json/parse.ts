import { findDuplicates } from './duplicates.ts';
import { JsonError } from './error.ts';
import { describeFault } from './fault.ts';
import { countKeysOfText } from './scan.ts';

/*
 * JSON.parse does the work. But it does not report that a key occurs twice in one object (it keeps the last), and for a
 * body of nothing but brackets it takes half a second. So a pass over the text comes first, which stops at a depth limit
 * and counts the keys (scan.ts). When the value has as many keys, none occurs twice; else another pass finds which.
 *
 * A key with a backslash is refused. JSON.parse of V8 12.8 and later compares the source of a key, escapes
 * unread, with the keys of objects made before, so after one object with the key `\\` it reads `"\u0061"` in
 * another as that key (nodejs/node#63785): one client could garble what the next one sends. A key in which a quote comes
 * first is harmless: see isGarblingKey.
 */

export interface ParsedJson {
  value: unknown;
  /** Paths of keys that occur more than once in their object, each once, at most one more than `complaintsLimit`. */
  duplicates: string[];
}

/** Parses JSON. Throws JsonError, which has the position and nothing of the text. */
export function parseJson(text: string): ParsedJson {
  const keys = countKeysOfText(text);
  const value = parseOrThrow(text);
  return { value, duplicates: countKeys(value) === keys ? [] : findDuplicates(text) };
}

function parseOrThrow(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new JsonError(describeFault(text));
  }
}

/** The number of keys of all objects in a value. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key in value) count += 1 + countKeys(Reflect.get(value, key));
  return count;
}
