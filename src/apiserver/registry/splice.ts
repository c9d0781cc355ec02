import type { Stored } from '../storage/index.ts';

/** Writes the JSON to send, made from stored bytes, into a given buffer. */
export interface Splice {
  /** The number of bytes to be written. */
  size(stored: Stored): number;
  /** Writes it into `target` from `at` on. Returns where it ends. */
  write(stored: Stored, target: Buffer, at: number): number;
}

const beforeVersion = Buffer.from('"resourceVersion":"');
const behindVersion = Buffer.from('",');

/** With which every opening ends. */
const metadataOpens = Buffer.from('"metadata":{');

/**
 * Inserts the version after `opening`, with which all stored bytes of a kind begin that this program has written. Bytes
 * that another program has written in another form into a shared store are first converted by `rewrite`.
 */
export function spliceBehind(opening: Buffer, rewrite: (stored: Stored) => Uint8Array): Splice {
  const upToVersion = Buffer.concat([opening, beforeVersion]);
  const added = beforeVersion.length + behindVersion.length;
  const rewritten = new WeakMap<Uint8Array, Uint8Array>();

  function bytesOf(stored: Stored): Uint8Array {
    if (opensAt(stored.value, opening.length)) return stored.value;
    const bytes = rewritten.get(stored.value) ?? rewrite(stored);
    rewritten.set(stored.value, bytes);
    return bytes;
  }

  return {
    size: (stored) => bytesOf(stored).length + added + digitsOf(stored.revision),
    write(stored, target, at) {
      const { revision } = stored;
      const value = bytesOf(stored);
      const digits = digitsOf(revision);
      // all of it, moved on by as much as is added; then what comes before, over the beginning of that
      target.set(value, at + added + digits);
      target.set(upToVersion, at);
      const version = at + upToVersion.length;
      writeDigits(revision, digits, target, version);
      target.set(behindVersion, version + digits);
      return at + added + digits + value.length;
    },
  };
}

/** Whether the metadata begin there. Asked for every object that is shown. */
function opensAt(value: Uint8Array, end: number): boolean {
  const start = end - metadataOpens.length;
  for (let index = 0; index < metadataOpens.length; index++) {
    if (value[start + index] !== metadataOpens[index]) return false;
  }
  return true;
}

function digitsOf(revision: number): number {
  let digits = 1;
  for (let rest = revision; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}

/** Without making text of it first, which costs as much as all the rest. */
function writeDigits(revision: number, digits: number, target: Buffer, at: number): void {
  let rest = revision;
  for (let place = at + digits - 1; place >= at; place--) {
    const higher = Math.floor(rest / 10);
    target[place] = rest - higher * 10 + 0x30; // in this order: a version may be as large as numbers are exact
    rest = higher;
  }
}
