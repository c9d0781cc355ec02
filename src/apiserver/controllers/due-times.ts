const secondMs = 1000;

/** Keys with the time at which each is due, to the second, never too early. Thousands due at the same time cost as much as one. */
export class DueTimes {
  readonly #seconds = new Map<string, number>();
  readonly #keys = new Map<number, Set<string>>();

  get size(): number {
    return this.#seconds.size;
  }

  /** The time at which the first key is due; undefined when there is none. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const second of this.#keys.keys()) if (next === undefined || second < next) next = second;
    return next === undefined ? undefined : next * secondMs;
  }

  has(key: string): boolean {
    return this.#seconds.has(key);
  }

  /** Replaces the earlier time of the key. */
  set(key: string, dueMs: number): void {
    this.delete(key);
    const second = Math.ceil(dueMs / secondMs);
    this.#seconds.set(key, second);
    const keys = this.#keys.get(second) ?? new Set();
    this.#keys.set(second, keys.add(key));
  }

  delete(key: string): void {
    const second = this.#seconds.get(key);
    if (second === undefined) return;
    this.#seconds.delete(key);
    const keys = this.#keys.get(second);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(second);
  }

  /** Removes and returns the keys that are due. */
  take(nowMs: number): string[] {
    const due = [...this.#keys]
      .filter(([second]) => second * secondMs <= nowMs)
      .flatMap(([, keys]) => [...keys]);
    for (const key of due) this.delete(key);
    return due;
  }
}
