const secondMs = 1000;

/** Keys with the time at which each is due, to the second, never too early. Thousands at the same time cost as one. */
export class DueTimes {
  readonly #seconds = new Map<string, number>();
  readonly #keys = new Map<number, Set<string>>();

  get size(): number {
    return this.#seconds.size;
  }

  /** When the first is due; undefined when nothing waits. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const second of this.#keys.keys()) if (next === undefined || second < next) next = second;
    return next === undefined ? undefined : next * secondMs;
  }

  has(key: string): boolean {
    return this.#seconds.has(key);
  }

  /** Replaces what was set for the key before. */
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

  /** Takes out the keys that are due. */
  take(nowMs: number): string[] {
    const due = [...this.#keys]
      .filter(([second]) => second * secondMs <= nowMs)
      .flatMap(([, keys]) => [...keys]);
    for (const key of due) this.delete(key);
    return due;
  }
}
