import { randomInt } from 'node:crypto';

/** Letters and digits that make no words, as the reference uses. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
export const suffixLength = 5;

/** Random characters that make a name unlike others. */
export function randomSuffix(): string {
  return Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('');
}
