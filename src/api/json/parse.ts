import { depthLimit } from './depth-limit.ts';
import { findDuplicates } from './duplicates.ts';
import { findStringEnd } from './end-of-string.ts';
import { JsonError } from './error.ts';
import { describeFault } from './fault.ts';
import { readKey } from './key-at.ts';
import { mayHaveHalves, withoutHalves } from './well-formed.ts';

/*
 * JSON.parse does the work. But it does not report that a key occurs twice in one object (it keeps the last), and for a
 * body of nothing but brackets it takes half a second. So a pass over the text comes first, which stops at a depth limit
 * and counts the keys (countKeysOfText). When the value has as many keys, none occurs twice; else another pass finds which.
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
  const parsed = parseOrThrow(text);
  const value = mayHaveHalves(text) ? withoutHalves(parsed) : parsed;
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

const quote = 0x22;

/**
 * Counts the keys in a JSON text, each as often as it occurs. The text need not be valid: the scan distinguishes only
 * strings, objects and lists, and the result counts only once JSON.parse has accepted the text. Throws JsonError for too
 * deep nesting and for keys that are not accepted.
 */
function countKeysOfText(text: string): number {
  const open: boolean[] = []; // of each container whether it is an object
  let keys = 0;
  let expectKey = false;
  let backslash = text.indexOf('\\');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = findStringEnd(text, at);
      if (end < 0) break; // no valid JSON
      if (expectKey) {
        keys++;
        if (backslash >= 0 && backslash < at) backslash = text.indexOf('\\', at);
        if (backslash >= 0 && backslash < end) readKey(text, at, end);
      }
      expectKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      expectKey = code === 0x7b;
      if (open.push(expectKey) > depthLimit) throw new JsonError(`nested deeper than ${depthLimit} levels`);
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      expectKey = false;
    } else if (code === 0x2c) {
      expectKey = open[open.length - 1] === true;
    }
  }
  return keys;
}
