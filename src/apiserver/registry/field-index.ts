import { EventLoopYielder } from '../../base/index.ts';
import type { CachedStore, Listing, Stored } from '../storage/index.ts';
import { compareKeys } from '../storage/index.ts';
import { followKeys, followWritten } from './follower.ts';

/*
 * The keys of a kind's objects by the value of one field, such as pods by node. To read the field an object must be
 * parsed, so that is not done when it is written but with the next list: a change only makes its key stale.
 *
 *     a change ──► stale ──(next list)──► values: key → value ──► keys: value → keys
 *
 * Once nothing is stale, the index and the cache have the same state, until the next await.
 */
export class FieldIndex {
  readonly #storage: CachedStore;
  readonly #fieldOf: (stored: Stored) => string;
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, string>();
  readonly #stale = new Set<string>();

  /** Of the keys that start with `prefix`, for as long as the storage lives. */
  constructor(storage: CachedStore, prefix: string, fieldOf: (stored: Stored) => string) {
    this.#storage = storage;
    this.#fieldOf = fieldOf;
    followKeys(storage, prefix, {
      ...followWritten((key) => this.#stale.add(key)),
      gone: ({ key }) => this.#forget(key),
    });
  }

  /** How many keys it knows, stale ones too: as many as there are objects. */
  get size(): number {
    return new Set([...this.#stale, ...this.#values.keys()]).size;
  }

  /** The objects whose field has this value and whose keys start with `prefix` and are greater than `after`. */
  async list(value: string, prefix: string, after: string): Promise<Listing> {
    const yielder = new EventLoopYielder();
    for (const key of this.#stale) {
      this.#refresh(key);
      if (yielder.isDue) await yielder.yield();
    }
    return this.#present(value, prefix, after);
  }

  #present(value: string, prefix: string, after: string): Listing {
    const keys = [...(this.#keys.get(value) ?? [])]
      .filter((key) => key.startsWith(prefix) && (after === '' || compareKeys(key, after) > 0))
      .sort(compareKeys);
    const items = keys.flatMap((key) => this.#storage.get(key) ?? []);
    // the field of one that cannot be read is not known
    const unreadable = this.#storage.unreadable(prefix).filter((one) => compareKeys(one.key, after) > 0);
    return { revision: this.#storage.applied, items, remaining: 0, unreadable };
  }

  #refresh(key: string): void {
    this.#forget(key);
    const stored = this.#storage.get(key);
    if (stored === undefined) return;
    const value = this.#fieldOf(stored);
    this.#values.set(key, value);
    const keys = this.#keys.get(value) ?? new Set();
    this.#keys.set(value, keys.add(key));
  }

  #forget(key: string): void {
    this.#stale.delete(key);
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    const keys = this.#keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(value);
  }
}
