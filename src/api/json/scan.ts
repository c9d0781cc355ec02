import { depthLimit } from './depth-limit.ts';
import { findStringEnd } from './end-of-string.ts';
import { JsonError } from './error.ts';
import { readKey } from './key-at.ts';

const quote = 0x22;

/**
 * Counts the keys in a JSON text, each as often as it occurs. The text need not be valid: the scan distinguishes only
 * strings, objects and lists, and the result counts only once JSON.parse has accepted the text. Throws JsonError for too
 * deep nesting and for keys that are not accepted.
 */
export function countKeysOfText(text: string): number {
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
