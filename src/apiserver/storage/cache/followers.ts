import { bucketOf } from '../key-order.ts';
import type { Change } from '../types.ts';

interface Follower {
  readonly prefix: string;
  readonly apply: (change: Change) => void;
  isGone: boolean;
}

/**
 * The followers of changes, called in the order in which they were added. A change costs time only for the followers of
 * its bucket: a renewal of a Lease does not touch those of roles.
 */
export class Followers {
  readonly #all = new Set<Follower>();
  /** The followers of each bucket; computed when first needed, dropped when a follower is added or removed. */
  readonly #byBucket = new Map<string, readonly Follower[]>();
  readonly #onError: (error: unknown, change: Change) => void;

  /** `onError` is called when a follower throws; the others are called nevertheless. */
  constructor(onError: (error: unknown, change: Change) => void) {
    this.#onError = onError;
  }

  /** Calls `apply` for each change of a key that starts with `prefix`, until the result is disposed of. */
  add(prefix: string, apply: (change: Change) => void): Disposable {
    const follower: Follower = { prefix, apply, isGone: false };
    this.#all.add(follower);
    this.#byBucket.clear();
    return {
      [Symbol.dispose]: () => {
        follower.isGone = true;
        if (this.#all.delete(follower)) this.#byBucket.clear();
      },
    };
  }

  apply(change: Change): void {
    for (const follower of this.#of(bucketOf(change.key))) {
      if (follower.isGone || !change.key.startsWith(follower.prefix)) continue;
      try {
        follower.apply(change);
      } catch (error) {
        this.#onError(error, change);
      }
    }
  }

  #of(bucket: string): readonly Follower[] {
    const known = this.#byBucket.get(bucket);
    if (known !== undefined) return known;
    const followers = [...this.#all].filter(({ prefix }) => ['', bucket].includes(bucketOf(prefix)));
    this.#byBucket.set(bucket, followers);
    return followers;
  }
}
