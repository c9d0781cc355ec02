import type { Stored } from '../storage/index.ts';

/** Makes the JSON to show out of stored bytes, in a place that is there already. */
export interface Splice {
  /** How many bytes it will be. */
  size(stored: Stored): number;
  /** Writes it into `target` from `at` on; answers where it ends. */
  write(stored: Stored, target: Buffer, at: number): number;
}

const beforeVersion = Buffer.from('"resourceVersion":"');
const behindVersion = Buffer.from('",');

/** Puts the version behind `opening`, with which all stored bytes of a kind begin. */
export function spliceBehind(opening: Buffer): Splice {
  const upToVersion = Buffer.concat([opening, beforeVersion]);
  const added = beforeVersion.length + behindVersion.length;
  return {
    size: ({ revision, value }) => value.length + added + digitsOf(revision),
    write({ revision, value }, target, at) {
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
