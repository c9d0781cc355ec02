import { bucketOf, compareKeys } from '../key-order.ts';
import { OrderedMap } from '../ordered-map.ts';
import { RemainingMemo } from '../remaining-memo.ts';
import type { Change, Listing, Revision, State, StoreChange, Stored, Unreadable } from '../types.ts';
import { isReadable } from '../types.ts';

interface Bucket {
  /** The last state of each that could be read. */
  readonly objects: OrderedMap<Stored>;
  /** Those that cannot be read now; seldom any. */
  readonly unreadable: Map<string, Unreadable>;
  changedAt: Revision;
}

/** The present state of every object, in order, one map per bucket. Lists within one bucket are the fast ones. */
export class Objects {
  readonly #buckets = new Map<string, Bucket>();
  readonly #memo: RemainingMemo;
  #loadedAt: Revision = 0;

  constructor(memo = new RemainingMemo()) {
    this.#memo = memo;
  }

  get(key: string): Stored | undefined {
    return this.#buckets.get(bucketOf(key))?.objects.get(key);
  }

  /** What the store has under a key. */
  lookup(key: string): State | undefined {
    const bucket = this.#buckets.get(bucketOf(key));
    return bucket?.unreadable.get(key) ?? bucket?.objects.get(key);
  }

  /** Those that cannot be read, in order. */
  unreadable(prefix: string): Unreadable[] {
    const all = this.#bucketsOf(prefix).flatMap(({ unreadable }) => [...unreadable.values()]);
    return all.filter(({ key }) => key.startsWith(prefix)).sort((a, b) => compareKeys(a.key, b.key));
  }

  /** The last readable state of every object, in no particular order. */
  *all(): Generator<Stored> {
    for (const { objects } of this.#buckets.values()) yield* firstOf(objects, '', '', 0);
  }

  /** Adds what was read at `revision`. */
  load(states: readonly State[], revision: Revision): void {
    this.#loadedAt = revision;
    for (const state of states) this.#set(state);
  }

  /** Keeps the last readable state of an object that cannot be read now. */
  keep(last: Stored): void {
    this.#bucket(last.key).objects.set(last.key, last);
  }

  /** Returns the change as it is for those who know the last readable states; undefined: it is none for them. */
  apply(change: StoreChange): Change | undefined {
    const { key, revision, next } = change;
    const bucket = this.#bucket(key);
    bucket.changedAt = revision;
    const known = bucket.objects.get(key) ?? null;
    if (next === null) {
      bucket.objects.delete(key);
      bucket.unreadable.delete(key);
    } else this.#set(next);
    if (next !== null && !isReadable(next)) return undefined;
    if (known === null && next === null) return undefined;
    return isOfReadable(change, known) ? change : { key, revision, previous: known, next };
  }

  /** One bucket as it is now, sharing memory with this one: it costs only what is changed here afterwards. */
  copyOf(name: string): Objects {
    const copy = new Objects(this.#memo); // the same state has the same counts
    copy.#loadedAt = this.#loadedAt;
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) {
      const unreadable = new Map(bucket.unreadable);
      copy.#buckets.set(name, { ...bucket, objects: bucket.objects.copy(), unreadable });
    }
    return copy;
  }

  /** Whether the present state of `prefix` is also its state at the older `revision`. */
  unchangedSince(prefix: string, revision: Revision): boolean {
    const name = bucketOf(prefix);
    if (name === '' || revision < this.#loadedAt) return false;
    return (this.#buckets.get(name)?.changedAt ?? 0) <= revision;
  }

  /** A limit of 0 means all. */
  list(prefix: string, after: string, limit: number, revision: Revision): Listing {
    const buckets = this.#bucketsOf(prefix);
    const items = buckets.flatMap(({ objects }) => firstOf(objects, prefix, after, limit));
    if (buckets.length > 1) items.sort((a, b) => compareKeys(a.key, b.key));
    if (limit === 0) return { revision, items, remaining: 0, ...this.#unreadableIn(buckets, prefix, after) };
    const page = items.length > limit ? items.slice(0, limit) : items;
    const remaining = this.#countRemaining(buckets, prefix, after, page);
    const last = remaining === 0 ? undefined : page.at(-1)?.key;
    return { revision, items: page, remaining, ...this.#unreadableIn(buckets, prefix, after, last) };
  }

  /** Those behind `after`, up to and with `last`. */
  #unreadableIn(
    buckets: readonly Bucket[],
    prefix: string,
    after: string,
    last?: string,
  ): Pick<Listing, 'unreadable'> {
    if (buckets.every(({ unreadable }) => unreadable.size === 0)) return {};
    const unreadable = this.unreadable(prefix).filter(
      ({ key }) => compareKeys(key, after) > 0 && (last === undefined || compareKeys(key, last) <= 0),
    );
    return unreadable.length === 0 ? {} : { unreadable };
  }

  #set(state: State): void {
    const { objects, unreadable } = this.#bucket(state.key);
    if (isReadable(state)) {
      objects.set(state.key, state);
      unreadable.delete(state.key);
    } else unreadable.set(state.key, state);
  }

  /** How many objects follow `page`, which follows `after`. */
  #countRemaining(
    buckets: readonly Bucket[],
    prefix: string,
    after: string,
    page: readonly Stored[],
  ): number {
    const state = buckets.reduce((latest, { changedAt }) => Math.max(latest, changedAt), 0);
    const count = () => buckets.reduce((sum, { objects }) => sum + objects.count(prefix, after), 0);
    const remaining = (this.#memo.get(prefix, state, after) ?? count()) - page.length;
    this.#memo.set(prefix, state, page.at(-1)?.key ?? after, remaining);
    return remaining;
  }

  #bucketsOf(prefix: string): readonly Bucket[] {
    const name = bucketOf(prefix);
    if (name === '') return [...this.#buckets.values()];
    const bucket = this.#buckets.get(name);
    return bucket === undefined ? [] : [bucket];
  }

  #bucket(key: string): Bucket {
    const name = bucketOf(key);
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = { objects: new OrderedMap(), unreadable: new Map(), changedAt: 0 };
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }
}

/** Whether a change is between readable states, and the one before is what is known. */
function isOfReadable(change: StoreChange, known: Stored | null): change is Change {
  const { previous } = change;
  return (previous === null || isReadable(previous)) && previous?.revision === known?.revision;
}

function firstOf(objects: OrderedMap<Stored>, prefix: string, after: string, limit: number): Stored[] {
  const items: Stored[] = [];
  objects.walk(prefix, after, (item) => {
    items.push(item);
    return items.length !== limit;
  });
  return items;
}
