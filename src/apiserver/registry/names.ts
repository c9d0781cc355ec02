import { randomInt } from 'node:crypto';

/** Letters and digits that make no words, as the reference uses. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const baseLimit = 63 - suffixLength;

/** A name from a prefix (`generateName`): the prefix, shortened to 58 characters, and five random ones. */
export function generateName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix.slice(0, baseLimit) + suffix;
}
