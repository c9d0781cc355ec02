/** Shares out a number of bytes: what each owner keeps, and who asked for more than there was. */
export class KeptBytes<T> {
  readonly #maxBytes: number;
  readonly #kept = new Map<T, number>();
  /** Those for whom there was no room, with what they asked for, in the order in which they came. */
  readonly #refused = new Map<T, number>();
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the owner may keep so many bytes, in place of those that it kept; if not, it keeps none. */
  take(owner: T, bytes: number): boolean {
    this.#give(owner);
    const fits = this.#total + bytes <= this.#maxBytes;
    if (fits) {
      this.#refused.delete(owner);
      this.#kept.set(owner, bytes);
      this.#total += bytes;
    } else this.#refused.set(owner, bytes);
    return fits;
  }

  forget(owner: T): void {
    this.#give(owner);
    this.#refused.delete(owner);
  }

  /** Those refused before for whom together there is room now; they are to ask again. */
  takeFitting(): T[] {
    let freeBytes = this.#maxBytes - this.#total;
    const fitting: T[] = [];
    for (const [owner, bytes] of this.#refused) {
      if (bytes > freeBytes) continue;
      freeBytes -= bytes;
      fitting.push(owner);
      this.#refused.delete(owner);
    }
    return fitting;
  }

  #give(owner: T): void {
    this.#total -= this.#kept.get(owner) ?? 0;
    this.#kept.delete(owner);
  }
}
