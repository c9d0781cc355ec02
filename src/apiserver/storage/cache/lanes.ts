import { bucketOf } from '../key-order.ts';
import type { RecentBounds } from '../recent-changes.ts';
import type { Change, Revision } from '../types.ts';
import { Flusher } from './flusher.ts';
import { Lane } from './lane.ts';

/** One lane per bucket, and while somebody watches more than a bucket one (named '') with everything. */
export class Lanes implements Disposable {
  readonly #lanes = new Map<string, Lane>();
  readonly #flusher = new Flusher();
  readonly #bounds: RecentBounds;

  /** `bounds`: what is kept of each bucket's events. */
  constructor(bounds: RecentBounds) {
    this.#bounds = bounds;
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
  }

  /** Drops what nobody needs after a watcher has gone. */
  tidy(): void {
    if (this.#lanes.get('')?.isWatched === false) this.#lanes.delete('');
  }

  /** Forgets all events: they do not join on to what comes next. */
  clear(): void {
    this.#lanes.clear();
  }

  [Symbol.dispose](): void {
    this.#flusher[Symbol.dispose]();
    this.#lanes.clear();
  }

  #appendTo(lane: Lane, change: Change): void {
    lane.append(change);
    this.#flusher.mark(lane);
  }

  #named(name: string, applied: Revision): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(applied, this.#bounds);
      this.#lanes.set(name, lane);
    }
    return lane;
  }
}
