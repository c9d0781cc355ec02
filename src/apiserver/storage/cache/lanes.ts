import { bucketOf } from '../key-order.ts';
import type { Change, Revision } from '../types.ts';
import { Lane } from './lane.ts';
import type { RecentBounds } from './recent-events.ts';

export interface LaneBounds {
  /** For the events of each bucket. */
  readonly each: RecentBounds;
  /** The bytes of all buckets' events together. */
  readonly totalBytes: number;
}

/**
 * One lane for each bucket and, while there is a watch of more than a bucket, one lane (named '') with everything. When
 * all lanes together hold too much, the one with the most bytes drops events: a busy kind does not push the events of
 * quiet ones out of memory.
 */
export class Lanes implements Disposable {
  readonly #lanes = new Map<string, Lane>();
  readonly #flusher = new Flusher(() => this.#trim());
  readonly #bounds: LaneBounds;
  readonly #tally = { bytes: 0 };

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /** An upper bound of the bytes that all events in memory hold. */
  get bytes(): number {
    return this.#tally.bytes;
  }

  /** The lane with all events of `prefix`; a new one reaches back to `applied` only. */
  laneOf(prefix: string, applied: Revision): Lane {
    return this.#getOrCreate(bucketOf(prefix), applied);
  }

  /** `before`: the cache's revision before this change. */
  append(change: Change, before: Revision): void {
    const name = bucketOf(change.key);
    if (name !== '') this.#appendTo(this.#getOrCreate(name, before), change);
    const wide = this.#lanes.get('');
    if (wide !== undefined) this.#appendTo(wide, change);
    this.#trim();
  }

  /** Drops the lane of everything when its last watcher has gone. */
  tidy(): void {
    if (this.#lanes.get('')?.isWatched === false) this.#drop('');
  }

  /** Forgets all events: there is a gap between them and the next ones. */
  clear(): void {
    for (const name of [...this.#lanes.keys()]) this.#drop(name);
  }

  [Symbol.dispose](): void {
    this.#flusher[Symbol.dispose]();
    this.clear();
  }

  #appendTo(lane: Lane, change: Change): void {
    lane.append(change);
    this.#flusher.mark(lane);
  }

  #getOrCreate(name: string, applied: Revision): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(applied, this.#bounds.each, this.#tally);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #trim(): void {
    while (this.#tally.bytes > this.#bounds.totalBytes) {
      if (this.#findLargest()?.dropOldest() !== true) return;
    }
  }

  #findLargest(): Lane | undefined {
    let largest: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (largest === undefined || lane.bytes > largest.bytes) largest = lane;
    }
    return largest;
  }

  #drop(name: string): void {
    this.#lanes.get(name)?.close();
    this.#lanes.delete(name);
  }
}

/** Between two flushes: the events that come within it go out in one write per watcher. */
const minSpacingMs = 5;

/**
 * Decides when watchers get their events: a single event at the end of the current turn of the event loop, many in
 * batches some milliseconds apart, since a write to a socket costs far more than its content.
 */
class Flusher implements Disposable {
  readonly #lanes = new Set<Lane>();
  #flushedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  readonly #onFlushed: () => void;

  constructor(onFlushed: () => void) {
    this.#onFlushed = onFlushed;
  }

  mark(lane: Lane): void {
    if (!lane.isWatched) return;
    this.#lanes.add(lane);
    if (this.#timer !== undefined || this.#immediate !== undefined) return;
    const waitMs = this.#flushedAt + minSpacingMs - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#flush(), waitMs);
    else this.#immediate = setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#timer = undefined;
    this.#immediate = undefined;
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    for (const lane of lanes) lane.flush();
    this.#onFlushed();
    this.#flushedAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#lanes.clear();
  }
}
