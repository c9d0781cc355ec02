export interface BoundedMapOptions<V> {
  readonly maxEntries: number;
  /** Of all entries together, as `weigh` says, which must be the same for a value at all times. */
  readonly maxWeight?: number;
  weigh?(value: V): number;
}

/**
 * A map that does not grow beyond its limits: the oldest entries are forgotten first. An entry is as old as its last
 * `set` or `use`, so who reads by `use` forgets what was not used for longest, and who reads by `get` what was set first.
 * The newest entry is kept even if it alone is heavier than `maxWeight`.
 */
export class BoundedMap<K, V extends NonNullable<unknown>> {
  readonly #entries = new Map<K, V>();
  readonly #maxEntries: number;
  readonly #maxWeight: number;
  readonly #weigh: ((value: V) => number) | undefined;
  #weight = 0;

  constructor({ maxEntries, maxWeight = Number.POSITIVE_INFINITY, weigh }: BoundedMapOptions<V>) {
    this.#maxEntries = maxEntries;
    this.#maxWeight = maxWeight;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Of all entries; 0 without `weigh`. */
  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Like `get`, and makes the entry the newest. */
  use(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    if (this.#weigh !== undefined) this.#weight += this.#weigh(value);
    if (this.#isOver()) this.#forgetOldest(key);
  }

  delete(key: K): void {
    if (this.#weigh !== undefined) {
      const value = this.#entries.get(key);
      if (value !== undefined) this.#weight -= this.#weigh(value);
    }
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #isOver(): boolean {
    return this.#entries.size > this.#maxEntries || this.#weight > this.#maxWeight;
  }

  #forgetOldest(newest: K): void {
    for (const key of this.#entries.keys()) {
      if (key === newest) return;
      this.delete(key);
      if (!this.#isOver()) return;
    }
  }
}
