import { bucketOf } from '../key-order.ts';
import type { Change, Revision } from '../types.ts';
import { Lane } from './lane.ts';
import type { RecentBounds } from './recent-events.ts';

export interface LaneBounds {
  /** What is kept of each bucket's events. */
  readonly each: RecentBounds;
  /** The bytes of all buckets' events together. */
  readonly totalBytes: number;
}

/**
 * One lane per bucket, and while somebody watches more than a bucket one (named '') with everything. When all together
 * hold too much, the longest gives way: a busy kind does not push the events of quiet ones out of memory.
 */
export class Lanes implements Disposable {
  readonly #lanes = new Map<string, Lane>();
  readonly #flusher = new Flusher(() => this.#trim());
  readonly #bounds: LaneBounds;
  readonly #tally = { bytes: 0 };

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /** What all events in memory hold, at most. */
  get bytes(): number {
    return this.#tally.bytes;
  }

  /** The lane with all events of `prefix`; a new one reaches back to `applied` only. */
  laneOf(prefix: string, applied: Revision): Lane {
    return this.#named(bucketOf(prefix), applied);
  }

  /** `before`: the cache's revision before this change. */
  append(change: Change, before: Revision): void {
    const name = bucketOf(change.key);
    if (name !== '') this.#appendTo(this.#named(name, before), change);
    const wide = this.#lanes.get('');
    if (wide !== undefined) this.#appendTo(wide, change);
    this.#trim();
  }

  /** Drops what nobody needs after a watcher has gone. */
  tidy(): void {
    if (this.#lanes.get('')?.isWatched === false) this.#drop('');
  }

  /** Forgets all events: they do not join on to what comes next. */
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

  #named(name: string, applied: Revision): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(applied, this.#bounds.each, this.#tally);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #trim(): void {
    while (this.#tally.bytes > this.#bounds.totalBytes) {
      if (this.#longest()?.dropOldest() !== true) return;
    }
  }

  #longest(): Lane | undefined {
    let longest: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (longest === undefined || lane.bytes > longest.bytes) longest = lane;
    }
    return longest;
  }

  #drop(name: string): void {
    this.#lanes.get(name)?.close();
    this.#lanes.delete(name);
  }
}

/** The shortest time between two flushes: what comes within it goes out in one write per watcher. */
const spacingMs = 5;

/**
 * Decides when watchers get their events: a single one at the end of the event loop's turn, many in bundles
 * some milliseconds apart, since a write to a socket costs far more than what is in it.
 */
class Flusher implements Disposable {
  readonly #lanes = new Set<Lane>();
  #flushedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  readonly #flushed: () => void;

  /** `flushed` is called after every flush. */
  constructor(flushed: () => void) {
    this.#flushed = flushed;
  }

  mark(lane: Lane): void {
    if (!lane.isWatched) return;
    this.#lanes.add(lane);
    if (this.#timer !== undefined || this.#immediate !== undefined) return;
    const waitMs = this.#flushedAt + spacingMs - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#flush(), waitMs);
    else this.#immediate = setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#timer = undefined;
    this.#immediate = undefined;
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    for (const lane of lanes) lane.flush();
    this.#flushed();
    this.#flushedAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#lanes.clear();
  }
}
