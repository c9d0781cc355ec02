import { complaintsLimit, joinPath } from '../schema/index.ts';
import { findStringEnd } from './end-of-string.ts';
import { readKey } from './key-at.ts';

interface Container {
  /** Keys of an object so far; undefined for a list. */
  keys: Set<string> | undefined;
  /** The key or index that is being read. */
  step: string | number;
}

const quote = 0x22;

/** Paths of keys that occur more than once in their object, each once, at most one more than `complaintsLimit`. */
export function findDuplicates(text: string): string[] {
  const duplicates = new Set<string>();
  const open: Container[] = [];
  let top: Container | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = findStringEnd(text, at);
      if (expectKey && top !== undefined) addKey(readKey(text, at, end), top, open, duplicates);
      expectKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      expectKey = code === 0x7b;
      top = { keys: expectKey ? new Set() : undefined, step: expectKey ? '' : 0 };
      open.push(top);
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      top = open.at(-1);
      expectKey = false;
    } else if (code === 0x2c && top !== undefined) {
      expectKey = top.keys !== undefined;
      if (typeof top.step === 'number') top.step++;
    }
  }
  return [...duplicates];
}

function addKey(key: string, object: Container, open: readonly Container[], duplicates: Set<string>): void {
  object.step = key;
  const { keys } = object;
  if (keys === undefined || keys.size < keys.add(key).size || duplicates.size > complaintsLimit) return;
  duplicates.add(joinPath(open.map(({ step }) => step)));
}
