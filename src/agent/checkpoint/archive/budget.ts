import { limits } from './limits.ts';
import type { Notes } from './notes.ts';

/** Bounds what is kept of an archive in total. */
export interface Budget {
  /** Returns the text, cut if it is too long; empty when the budget for texts is used up. */
  keepText(text: string): string;
  /** Counts one more of `what`, and returns whether it may be kept: there may be at most `limit`. */
  admit(what: string, limit: number): boolean;
}

const maxTextLength = 64 * 1024 * 1024;

export function createBudget(notes: Notes): Budget {
  const counts = new Map<string, number>();
  let left = maxTextLength;
  return {
    keepText(text) {
      const kept = text.length > limits.textLength ? shorten(text) : text;
      left -= kept.length;
      if (left >= 0) return kept;
      notes.add('there are more names than are kept');
      return '';
    },
    admit(what, limit) {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (count > limit) notes.add(`there are more than ${limit} ${what}; the others were not read`);
      return count <= limit;
    },
  };
}

/** Copies the text: a slice would keep the whole original in memory. */
const shorten = (text: string): string =>
  `${Buffer.from(text.slice(0, limits.textLength)).toString('utf8')}…`;
