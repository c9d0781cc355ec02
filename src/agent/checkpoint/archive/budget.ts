import { limits } from './limits.ts';
import type { Notes } from './notes.ts';

/** What may be kept of an archive in all, whatever it is. */
export interface Budget {
  /** The text, cut where it is too long; empty when there is no room for more. */
  text(text: string): string;
  /** Whether one more may be kept of what there are at most `limit`. */
  room(what: string, limit: number): boolean;
}

const textBytes = 64 * 1024 * 1024;

export function createBudget(notes: Notes): Budget {
  const counts = new Map<string, number>();
  let left = textBytes;
  return {
    text(text) {
      const kept = text.length > limits.textLength ? shortened(text) : text;
      left -= kept.length;
      if (left >= 0) return kept;
      notes.add('there are more names than are kept');
      return '';
    },
    room(what, limit) {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (count > limit) notes.add(`there are more than ${limit} ${what}; the others were not read`);
      return count <= limit;
    },
  };
}

/** A copy: a piece of a text keeps the whole of it in memory. */
const shortened = (text: string): string =>
  `${Buffer.from(text.slice(0, limits.textLength)).toString('utf8')}…`;
