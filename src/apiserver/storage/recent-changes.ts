import type { Change, Revision } from './types.ts';

export interface RecentBounds {
  readonly count: number;
  readonly bytes: number;
}

/**
 * The last changes (or what is made of them), in order of revision, bounded in number and in bytes:
 * everything after `floor` and nothing before.
 */
export class RecentChanges<T extends { readonly revision: Revision }> {
  /** Before `#start` there is nothing: what was dropped is not held until the array is cut. */
  #changes: (T | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  #floor: Revision;
  readonly #bounds: RecentBounds;
  readonly #sizeOf: (item: T) => number;

  /** `sizeOf` an item may grow only by way of `grow`. */
  constructor(floor: Revision, bounds: RecentBounds, sizeOf: (item: T) => number) {
    this.#floor = floor;
    this.#bounds = bounds;
    this.#sizeOf = sizeOf;
  }

  /** All changes with a greater revision are here. */
  get floor(): Revision {
    return this.#floor;
  }

  append(change: T): void {
    this.#changes.push(change);
    this.#bytes += this.#sizeOf(change);
    this.#dropSurplus();
  }

  /** The size of `change` has grown by `bytes`; it may have been dropped already. */
  grow(change: T, bytes: number): void {
    if (change.revision <= this.#floor) return;
    this.#bytes += bytes;
  }

  /** Drops everything up to and including `upTo`. */
  forget(upTo: Revision): void {
    for (;;) {
      const first = this.#changes[this.#start];
      if (first === undefined || first.revision > upTo) break;
      this.#dropFirst();
    }
    this.#floor = Math.max(this.#floor, upTo);
    this.#tidy();
  }

  /** The changes after `revision`, which is not below `floor`; at most `limit`. */
  after(revision: Revision, limit: number): readonly T[] {
    const found: T[] = [];
    const from = this.#find(revision);
    for (const change of this.#changes.slice(from, from + limit)) {
      if (change !== undefined) found.push(change);
    }
    return found;
  }

  #dropSurplus(): void {
    const { count, bytes } = this.#bounds;
    while (this.#changes.length - this.#start > count || this.#bytes > bytes) this.#dropFirst();
    this.#tidy();
  }

  #find(revision: Revision): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #dropFirst(): void {
    const first = this.#changes[this.#start];
    if (first === undefined) return;
    this.#changes[this.#start++] = undefined;
    this.#bytes -= this.#sizeOf(first);
    this.#floor = Math.max(this.#floor, first.revision);
  }

  #tidy(): void {
    if (this.#start < 1_024 || this.#start * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}

/** What a change holds in memory, about. */
export function sizeOfChange(change: Change): number {
  return 200 + (change.previous?.value.byteLength ?? 0) + (change.next?.value.byteLength ?? 0);
}
