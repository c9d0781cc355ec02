import { findDuplicates } from './duplicates.ts';
import { JsonError } from './error.ts';
import { describeFault } from './fault.ts';
import { scan } from './scan.ts';

/*
 * JSON.parse does the work; what it does not tell is that a key stood twice in one object (it keeps the last), and
 * for a body of nothing but brackets it takes half a second. So a pass over the text goes before it, which stops at a
 * depth and counts the keys (scan.ts). When the value has as many, none stood twice; else another pass finds which.
 *
 * A key that holds a backslash is refused. JSON.parse of V8 12.8 and later compares the source of a key, escapes
 * unread, with the keys of objects made before, so after one object with the key `\\` it reads `"\u0061"` in
 * another as that key (nodejs/node#63785): one client could garble what the next one sends. Not so a key in which a
 * quote comes before: see isGarblingKey.
 */

export interface ParsedJson {
  value: unknown;
  /** Paths of keys that stand more than once in their object, each once, at most one more than `complaintsLimit`. */
  duplicates: string[];
}

/** Parses JSON text of UTF-8. Throws JsonError, which tells the place and shows nothing of the text. */
export function parseJson(text: string): ParsedJson {
  const keys = scan(text);
  const value = parsed(text);
  return { value, duplicates: keysIn(value) === keys ? [] : findDuplicates(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new JsonError(describeFault(text));
  }
}

/** How many keys all objects in a value have together. */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += keysIn(item);
    return count;
  }
  for (const key in value) count += 1 + keysIn(Reflect.get(value, key));
  return count;
}
