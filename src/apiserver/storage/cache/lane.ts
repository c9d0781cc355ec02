import type { Change, Revision } from '../types.ts';
import type { RecentBounds, Tally } from './recent-events.ts';
import { RecentEvents } from './recent-events.ts';
import { WatchEvent } from './watch-event.ts';

/** Takes events from a lane; `pull` is called whenever there may be new ones. */
export interface LaneReader {
  pull(): void;
}

/**
 * The recent events of one bucket and its watchers: busy leases neither push the events of quiet kinds out of memory nor
 * cost their watchers time. Watchers have no queues: each knows the revision it has reached, and takes the later events
 * from here.
 */
export class Lane {
  readonly #recent: RecentEvents<WatchEvent>;
  readonly #watchers = new Set<LaneReader>();
  readonly #bounds: RecentBounds;
  #unflushed = { count: 0, bytes: 0 };

  /** The bytes held here are also counted in `tally`. */
  constructor(floor: Revision, bounds: RecentBounds, tally: Tally) {
    this.#bounds = bounds;
    this.#recent = new RecentEvents<WatchEvent>(floor, bounds, (event) => event.size, tally);
  }

  /** Every event with a greater revision is here. */
  get floor(): Revision {
    return this.#recent.floor;
  }

  /** The bytes of its events. */
  get bytes(): number {
    return this.#recent.bytes;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  append(change: Change): void {
    const event = new WatchEvent(change, this.#grown);
    // Unflushed events must not be dropped: a watcher that is not slow would lose them.
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

  /** Passes new events to every watcher that can take them. */
  flush(): void {
    this.#unflushed = { count: 0, bytes: 0 };
    for (const watcher of [...this.#watchers]) watcher.pull();
    this.#recent.trim(); // the frames that were encoded for them count too
  }

  /** Drops the oldest event to make room for other lanes; false: there is none. */
  dropOldest(): boolean {
    if (this.#recent.count <= this.#unflushed.count) this.flush();
    return this.#recent.dropOldest();
  }

  /** Forgets all events, also future ones: this lane is no longer in use. */
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
