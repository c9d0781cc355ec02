import { BoundedMap } from '../../base/index.ts';
import type { Revision } from './types.ts';

const maxEntries = 256;

/**
 * Remembers how many keys follow a page, so that the next page of the same list need not count them again. Past states do
 * not change, so an entry never becomes invalid.
 */
export class RemainingMemo {
  readonly #counts = new BoundedMap<string, number>({ maxEntries });

  /** How many keys follow `after` in the list of `prefix` at `revision`, if that was counted before. */
  get(prefix: string, revision: Revision, after: string): number | undefined {
    return this.#counts.get(nameOf(prefix, revision, after));
  }

  set(prefix: string, revision: Revision, after: string, count: number): void {
    this.#counts.set(nameOf(prefix, revision, after), count);
  }
}

function nameOf(prefix: string, revision: Revision, after: string): string {
  return JSON.stringify([prefix, revision, after]);
}
