import type { Remark } from './types.ts';

/** How many errors and how many warnings are kept; further ones are only counted. */
export const remarksLimit = 100;
const maxTextLength = 80;

/** The errors and warnings about a profile, of bounded number. */
export class Remarks {
  readonly #errors = new RemarkList();
  readonly #warnings = new RemarkList();

  error(path: string, message: string): void {
    this.#errors.add(path, message);
  }

  /** A message function is called only when the warning is kept. */
  warn(path: string, message: string | (() => string)): void {
    this.#warnings.add(path, message);
  }

  get hasErrors(): boolean {
    return this.#errors.list().length > 0;
  }

  errors(): Remark[] {
    return this.#errors.list();
  }

  warnings(): Remark[] {
    return this.#warnings.list();
  }
}

class RemarkList {
  readonly #kept: Remark[] = [];
  #dropped = 0;

  add(path: string, message: string | (() => string)): void {
    if (this.#kept.length >= remarksLimit) this.#dropped += 1;
    else this.#kept.push({ path, message: typeof message === 'string' ? message : message() });
  }

  list(): Remark[] {
    if (this.#dropped === 0) return this.#kept;
    return [...this.#kept, { path: '', message: `and ${this.#dropped} more` }];
  }
}

/** Shortens a text of the file for a message. */
export function shorten(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text;
}

/** Shortens a text of the file for a message, in quotes. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
