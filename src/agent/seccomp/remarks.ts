import type { Remark } from './types.ts';

/** Of each sort; of more is only told how many they are. */
export const remarksLimit = 100;
const shownLimit = 80;

/** What is found in a profile, kept within bounds. */
export interface Remarks {
  error(path: string, message: string): void;
  /** The text is only made where it is kept. */
  warn(path: string, message: string | (() => string)): void;
  readonly hasErrors: boolean;
  errors(): Remark[];
  warnings(): Remark[];
}

export function createRemarks(): Remarks {
  const errors = boundedList();
  const warnings = boundedList();
  return {
    error: errors.add,
    warn: warnings.add,
    get hasErrors() {
      return errors.count() > 0;
    },
    errors: errors.all,
    warnings: warnings.all,
  };
}

function boundedList() {
  const kept: Remark[] = [];
  let dropped = 0;
  return {
    add(path: string, message: string | (() => string)): void {
      if (kept.length >= remarksLimit) dropped++;
      else kept.push({ path, message: typeof message === 'string' ? message : message() });
    },
    count: () => kept.length + dropped,
    all: () => (dropped === 0 ? kept : [...kept, { path: '', message: `and ${dropped} more` }]),
  };
}

/** A name of the file in a message. */
export function shortened(text: string): string {
  return text.length > shownLimit ? `${text.slice(0, shownLimit - 1)}…` : text;
}

/** A value of the file in a message: short, and in quotes. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}
