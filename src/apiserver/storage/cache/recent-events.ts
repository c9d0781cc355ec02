import type { Revision } from '../types.ts';

export interface RecentBounds {
  readonly count: number;
  readonly bytes: number;
}

/** The bytes that several of them hold together. */
export interface Tally {
  bytes: number;
}

/**
 * The last events, in order of revision, bounded in number and in bytes:
 * everything after `floor` and nothing before.
 */
export class RecentEvents<T extends { readonly revision: Revision }> {
  /** Empty before `#start`: dropped events are released before the array is cut. */
  #events: (T | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  #floor: Revision;
  readonly #bounds: RecentBounds;
  readonly #sizeOf: (item: T) => number;
  readonly #tally: Tally;

  /** The size of an item may grow only by calling `grow`. The bytes held here are also counted in `tally`. */
  constructor(
    floor: Revision,
    bounds: RecentBounds,
    sizeOf: (item: T) => number,
    tally: Tally = { bytes: 0 },
  ) {
    this.#floor = floor;
    this.#bounds = bounds;
    this.#sizeOf = sizeOf;
    this.#tally = tally;
  }

  /** All events with a greater revision are here. */
  get floor(): Revision {
    return this.#floor;
  }

  get count(): number {
    return this.#events.length - this.#start;
  }

  /** The sum of all sizes. */
  get bytes(): number {
    return this.#bytes;
  }

  append(event: T): void {
    this.#events.push(event);
    this.#weigh(this.#sizeOf(event));
    this.trim();
  }

  /** Drops the oldest beyond the bounds, as `append` does: some may have grown. */
  trim(): void {
    const { count, bytes } = this.#bounds;
    while (this.count > count || this.#bytes > bytes) this.#dropFirst();
    this.#tidy();
  }

  /** The size of `event` has grown by `bytes`; it may have been dropped already. */
  grow(event: T, bytes: number): void {
    if (event.revision <= this.#floor) return;
    this.#weigh(bytes);
  }

  /** Drops the oldest; false: there is none. */
  dropOldest(): boolean {
    if (this.count === 0) return false;
    this.#dropFirst();
    this.#tidy();
    return true;
  }

  /** Drops everything up to and including `upTo`. */
  forget(upTo: Revision): void {
    for (;;) {
      const first = this.#events[this.#start];
      if (first === undefined || first.revision > upTo) break;
      this.#dropFirst();
    }
    this.#floor = Math.max(this.#floor, upTo);
    this.#tidy();
  }

  /**
   * The events after `revision`, which is not below `floor`: at most `limit`, but always all of one revision. Another
   * program may have written several objects to etcd in one revision, and a reader that continues after that revision
   * would miss the rest.
   */
  after(revision: Revision, limit: number): readonly T[] {
    const found: T[] = [];
    const from = this.#find(revision);
    const last = this.#events[from + limit - 1];
    const end = last === undefined ? from + limit : this.#find(last.revision);
    for (const event of this.#events.slice(from, end)) {
      if (event !== undefined) found.push(event);
    }
    return found;
  }

  #find(revision: Revision): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #dropFirst(): void {
    const first = this.#events[this.#start];
    if (first === undefined) return;
    this.#events[this.#start++] = undefined;
    this.#weigh(-this.#sizeOf(first));
    this.#floor = Math.max(this.#floor, first.revision);
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes;
    this.#tally.bytes += bytes;
  }

  #tidy(): void {
    if (this.#start < 1_024 || this.#start * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }
}
