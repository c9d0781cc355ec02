import type { Clock } from '../../../base/index.ts';
import { sizeOfState } from '../change-size.ts';
import { bucketOf } from '../key-order.ts';
import type { Listing, Revision, StoreChange } from '../types.ts';
import type { Objects } from './objects.ts';

/*
 * A list in chunks is of one state, but writers do not wait for its reader. So when a client was given a chunk that is
 * not the last, the state of that chunk is kept when the next write comes: as a copy that shares everything with the
 * present state except what changes from then on.
 *
 *     chunk ──► wanted ──(next change of its bucket)──► kept: all of the bucket, before that change
 *
 * This is an optimization only: a state that is not here (any more) is read from the history on disk.
 */

export interface PastBounds {
  /** Of the states kept. */
  readonly count: number;
  /** Held for them alone, together. */
  readonly bytes: number;
}

/** The lifetime of continue tokens; history seldom reaches back further. */
const maxMs = 5 * 60_000;
/** A state unused for this time is dropped: its reader is gone, or slow enough to read from disk. */
const idleMs = 60_000;
/** The tree nodes that a change copies because they also belong to a past state: measured on Node.js 24. */
const nodeBytes = 500;

interface Past {
  readonly name: string;
  readonly objects: Objects;
  /** The change that ended this state. */
  readonly until: Revision;
  readonly sinceMs: number;
  usedMs: number;
  bytes: number;
}

/** Past states of buckets from which lists in chunks continue. */
export class PastLists {
  readonly #bounds: PastBounds;
  readonly #clock: Clock;
  readonly #wanted = new Set<string>();
  /** The youngest last. */
  #kept: Past[] = [];
  #bytes = 0;
  #floor: Revision = 0;

  constructor(bounds: PastBounds, clock: Clock) {
    this.#bounds = bounds;
    this.#clock = clock;
  }

  get count(): number {
    return this.#kept.length;
  }

  /** An upper bound of the bytes held for past states. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps the present state for a list of `prefix` that will continue in it. */
  want(prefix: string): void {
    const name = bucketOf(prefix);
    if (name !== '') this.#wanted.add(name);
  }

  /** To be called before `change` is applied to `objects`. */
  before(change: StoreChange, objects: Objects): void {
    if (this.#wanted.size === 0 && this.#kept.length === 0) return;
    const name = bucketOf(change.key);
    const nowMs = this.#clock.monotonicMs();
    if (this.#wanted.delete(name)) {
      const past = { name, objects: objects.copyOf(name), until: change.revision };
      this.#kept.push({ ...past, sinceMs: nowMs, usedMs: nowMs, bytes: 0 });
    }
    this.#charge(name, change);
    this.#trim(nowMs);
  }

  /** As Objects.list, at `revision`; undefined when that is not here. */
  list(prefix: string, revision: Revision, after: string, limit: number): Listing | undefined {
    if (revision < this.#floor) return undefined;
    const name = bucketOf(prefix);
    const past = this.#kept.find(
      (one) => one.name === name && revision < one.until && one.objects.unchangedSince(prefix, revision),
    );
    if (past === undefined) return undefined;
    past.usedMs = this.#clock.monotonicMs();
    return past.objects.list(prefix, after, limit, revision);
  }

  /** From now on no state before `upTo` is returned. */
  forget(upTo: Revision): void {
    this.#floor = Math.max(this.#floor, upTo);
    for (const past of this.#kept.filter(({ until }) => until <= upTo)) this.#drop(past);
  }

  /** Counts the memory that this change leaves to the youngest past state of its bucket alone. */
  #charge(name: string, { previous }: StoreChange): void {
    const past = this.#kept.findLast((one) => one.name === name);
    if (past === undefined) return;
    if (previous !== null && previous.revision >= past.until) return; // it was not there yet
    const bytes = nodeBytes + sizeOfState(previous);
    past.bytes += bytes;
    this.#bytes += bytes;
  }

  #trim(nowMs: number): void {
    const isOver = ({ sinceMs, usedMs }: Past) => nowMs - usedMs > idleMs || nowMs - sinceMs > maxMs;
    for (const past of this.#kept.filter(isOver)) this.#drop(past);
    while (this.#kept.length > this.#bounds.count || this.#bytes > this.#bounds.bytes) {
      this.#drop(this.#kept.reduce((oldest, one) => (one.usedMs < oldest.usedMs ? one : oldest)));
    }
  }

  /** Memory that an older state of the bucket may share still counts, for that one. */
  #drop(past: Past): void {
    const older = this.#kept.findLast((one) => one.name === past.name && one.until < past.until);
    this.#kept = this.#kept.filter((one) => one !== past);
    if (older === undefined) this.#bytes -= past.bytes;
    else older.bytes += past.bytes;
  }
}
