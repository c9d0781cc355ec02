import type { Change, Revision } from '../types.ts';
import { WatchEvent } from './event.ts';
import type { RecentBounds, Tally } from './recent-events.ts';
import { RecentEvents } from './recent-events.ts';

/** One who is fed by a lane; told whenever there may be something to take. */
export interface LaneReader {
  pull(): void;
}

/**
 * The recent events of one bucket and those who watch it: busy leases neither push the events of quiet
 * kinds out of memory nor are they looked at for them. Watchers queue nothing: each knows the revision it
 * has come to, and takes what follows from here.
 */
export class Lane {
  readonly #recent: RecentEvents<WatchEvent>;
  readonly #watchers = new Set<LaneReader>();
  readonly #bounds: RecentBounds;
  #unflushed = { count: 0, bytes: 0 };

  /** What is held is also counted in `tally`. */
  constructor(floor: Revision, bounds: RecentBounds, tally: Tally) {
    this.#bounds = bounds;
    this.#recent = new RecentEvents<WatchEvent>(floor, bounds, (event) => event.size, tally);
  }

  /** Every event with a greater revision is here. */
  get floor(): Revision {
    return this.#recent.floor;
  }

  /** What its events hold. */
  get bytes(): number {
    return this.#recent.bytes;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  append(change: Change): void {
    const event = new WatchEvent(change, this.#grown);
    // What was not flushed must not be dropped: a watcher that is not slow would lose it.
    if (this.#unflushed.count * 2 >= this.#bounds.count || this.#unflushed.bytes * 2 >= this.#bounds.bytes) {
      this.flush();
    }
    this.#unflushed.count++;
    this.#unflushed.bytes += event.size;
    this.#recent.append(event);
  }

  after(revision: Revision, limit: number): readonly WatchEvent[] {
    return this.#recent.after(revision, limit);
  }

  /** Hands what is new to every watcher that can take it. */
  flush(): void {
    this.#unflushed = { count: 0, bytes: 0 };
    for (const watcher of [...this.#watchers]) watcher.pull();
    this.#recent.trim(); // the bytes that were made for them count too
  }

  /** Makes room for others; false: there is nothing to drop. */
  dropOldest(): boolean {
    if (this.#recent.count <= this.#unflushed.count) this.flush();
    return this.#recent.dropOldest();
  }

  /** Forgets all events, those to come too: this lane is no longer in use. */
  close(): void {
    this.#recent.forget(Number.MAX_SAFE_INTEGER);
  }

  add(watcher: LaneReader): void {
    this.#watchers.add(watcher);
  }

  remove(watcher: LaneReader): void {
    this.#watchers.delete(watcher);
  }

  readonly #grown = (event: WatchEvent, bytes: number): void => this.#recent.grow(event, bytes);
}
