import { complaintsLimit, joinPath } from '../schema/index.ts';
import { depthLimit } from './depth-limit.ts';
import { endOfString } from './end-of-string.ts';
import { describeFault } from './fault.ts';

/*
 * JSON.parse does the work; what it does not tell is that a key stood twice in one object (it keeps the last), and
 * for a body of nothing but brackets it takes half a second. So a pass over the text goes before it, which finds
 * double keys and stops at a depth. The text need not be valid JSON then: the pass only tells strings from
 * structure, keeps a stack of open containers, for each object the keys seen so far, and what it finds counts only
 * once JSON.parse has accepted the text.
 *
 * A key that holds a backslash is refused. JSON.parse of V8 12.8 and later compares the source of a key, escapes
 * unread, with the keys of objects made before, so after one object with the key `\\` it reads `"\u0061"` in
 * another as that key (nodejs/node#63785): one client could garble what the next one sends.
 */

/** A body that is no JSON, or nested too deeply. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

export interface ParsedJson {
  value: unknown;
  /** Paths of keys that stand more than once in their object, each once, at most one more than `complaintsLimit`. */
  duplicates: string[];
}

/** Parses JSON text of UTF-8. Throws JsonError, which tells the place and shows nothing of the text. */
export function parseJson(text: string): ParsedJson {
  const duplicates = findDuplicates(text);
  try {
    return { value: JSON.parse(text), duplicates };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new JsonError(describeFault(text));
  }
}

interface Container {
  /** Keys seen in an object, in a set when they are many; undefined for a list. */
  keys: string[] | Set<string> | undefined;
  /** The key or index that is being read. */
  step: string | number;
}

const quote = 0x22;

function findDuplicates(text: string): string[] {
  const duplicates = new Set<string>();
  const open: Container[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const top = open.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      if (end < 0) break; // no valid JSON
      if (expectKey && top?.keys !== undefined) {
        noteKey(keyAt(text, at, end), top, open, duplicates);
        expectKey = false;
      }
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      const isObject = code === 0x7b;
      open.push({ keys: isObject ? [] : undefined, step: isObject ? '' : 0 });
      if (open.length > depthLimit) throw new JsonError(`nested deeper than ${depthLimit} levels`);
      expectKey = isObject;
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      expectKey = false;
    } else if (code === 0x2c && top !== undefined) {
      expectKey = top.keys !== undefined;
      if (typeof top.step === 'number') top.step++;
    }
  }
  return [...duplicates];
}

function keyAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end);
  if (!inner.includes('\\')) return inner;
  const key = unescaped(text.slice(start, end + 1));
  if (key === undefined) throw new JsonError(describeFault(text));
  if (key.includes('\\')) throw new JsonError('this server takes no keys with a backslash in them');
  return key;
}

/** Undefined for a bad escape. */
function unescaped(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}

function noteKey(key: string, object: Container, open: readonly Container[], duplicates: Set<string>): void {
  object.step = key;
  if (isNew(key, object) || duplicates.size > complaintsLimit) return;
  duplicates.add(joinPath(open.map(({ step }) => step)));
}

/** Below this a list is searched faster than a set is made. */
const fewKeys = 16;

function isNew(key: string, object: Container): boolean {
  const { keys } = object;
  if (keys instanceof Set) return keys.size < keys.add(key).size;
  if (keys === undefined || keys.includes(key)) return false;
  if (keys.push(key) > fewKeys) object.keys = new Set(keys);
  return true;
}
