import type { Change, StoreChange, Stored } from '../types.ts';
import { isReadable } from '../types.ts';

/**
 * Turns the changes of a store, in order, into those that a reader has who keeps the last readable state of an object: one
 * that becomes unreadable does not change, and one that becomes readable again changes from its last readable state.
 */
export class ReadableChanges {
  /** Of the objects that cannot be read now; null: none. */
  readonly #last = new Map<string, Stored | null>();

  /** `unknown`: which state the reader has of an object is from before the first change. */
  take(changes: readonly StoreChange[]): readonly Change[] | 'unknown' {
    const taken: Change[] = [];
    for (const change of changes) {
      const previous = this.#lastOf(change);
      if (previous === undefined) return 'unknown';
      const { key, revision, next } = change;
      if (next !== null && !isReadable(next)) this.#last.set(key, previous);
      else {
        this.#last.delete(key);
        if (previous !== null || next !== null) taken.push({ key, revision, previous, next });
      }
    }
    return taken;
  }

  #lastOf({ key, previous }: StoreChange): Stored | null | undefined {
    return previous === null || isReadable(previous) ? previous : this.#last.get(key);
  }
}
