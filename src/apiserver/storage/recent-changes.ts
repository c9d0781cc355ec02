import type { Change, Revision, Stored } from './types.ts';

export interface RecentBounds {
  readonly count: number;
  readonly bytes: number;
}

/** What several of them hold together. */
export interface Tally {
  bytes: number;
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
  readonly #tally: Tally;

  /** `sizeOf` an item may grow only by way of `grow`. What is held here is also counted in `tally`. */
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

  /** All changes with a greater revision are here. */
  get floor(): Revision {
    return this.#floor;
  }

  get count(): number {
    return this.#changes.length - this.#start;
  }

  /** The sum of all sizes. */
  get bytes(): number {
    return this.#bytes;
  }

  append(change: T): void {
    this.#changes.push(change);
    this.#weigh(this.#sizeOf(change));
    this.trim();
  }

  /** Drops the oldest beyond the bounds, as `append` does: some may have grown. */
  trim(): void {
    const { count, bytes } = this.#bounds;
    while (this.count > count || this.#bytes > bytes) this.#dropFirst();
    this.#tidy();
  }

  /** The size of `change` has grown by `bytes`; it may have been dropped already. */
  grow(change: T, bytes: number): void {
    if (change.revision <= this.#floor) return;
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
      const first = this.#changes[this.#start];
      if (first === undefined || first.revision > upTo) break;
      this.#dropFirst();
    }
    this.#floor = Math.max(this.#floor, upTo);
    this.#tidy();
  }

  /**
   * The changes after `revision`, which is not below `floor`; at most `limit`, but all of a revision: who goes on behind it
   * would never see the rest of several that somebody else has written to etcd at once.
   */
  after(revision: Revision, limit: number): readonly T[] {
    const found: T[] = [];
    const from = this.#find(revision);
    const last = this.#changes[from + limit - 1];
    const end = last === undefined ? from + limit : this.#find(last.revision);
    for (const change of this.#changes.slice(from, end)) {
      if (change !== undefined) found.push(change);
    }
    return found;
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
    this.#weigh(-this.#sizeOf(first));
    this.#floor = Math.max(this.#floor, first.revision);
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes;
    this.#tally.bytes += bytes;
  }

  #tidy(): void {
    if (this.#start < 1_024 || this.#start * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}

/** A change and its event, with its share of the lists that hold it: measured on Node.js 24. */
const changeBytes = 250;
/** A state with its key and the objects around its bytes: measured on Node.js 24. */
const stateBytes = 450;

/**
 * What a change holds in memory at most. Mostly it is less: a state's bytes are there once, whether the objects, the
 * change that made it or the one that ended it refer to it.
 */
export function sizeOfChange({ previous, next }: Change): number {
  return changeBytes + sizeOfState(previous) + sizeOfState(next);
}

/** What a state holds in memory, with its key and its bytes. */
export function sizeOfState(state: Stored | null): number {
  return state === null ? 0 : stateBytes + state.value.byteLength;
}
