import { bucketOf, compareKeys } from '../key-order.ts';
import { OrderedMap } from '../ordered-map.ts';
import { RemainingMemo } from '../remaining-memo.ts';
import type { Change, Listing, Revision, Stored } from '../types.ts';

interface Bucket {
  readonly objects: OrderedMap<Stored>;
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

  /** Every object, in no particular order. */
  *all(): Generator<Stored> {
    for (const { objects } of this.#buckets.values()) yield* firstOf(objects, '', '', 0);
  }

  /** Adds the objects that were read at `revision`. */
  load(items: readonly Stored[], revision: Revision): void {
    this.#loadedAt = revision;
    for (const item of items) this.#bucket(item.key).objects.set(item.key, item);
  }

  apply(change: Change): void {
    const bucket = this.#bucket(change.key);
    bucket.changedAt = change.revision;
    if (change.next === null) bucket.objects.delete(change.key);
    else bucket.objects.set(change.key, change.next);
  }

  /** One bucket as it is now, sharing memory with this one: it costs only what is changed here afterwards. */
  copyOf(name: string): Objects {
    const copy = new Objects(this.#memo); // the same state has the same counts
    copy.#loadedAt = this.#loadedAt;
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) copy.#buckets.set(name, { ...bucket, objects: bucket.objects.copy() });
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
    if (limit === 0) return { revision, items, remaining: 0 };
    const page = items.length > limit ? items.slice(0, limit) : items;
    return { revision, items: page, remaining: this.#countRemaining(buckets, prefix, after, page) };
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
      bucket = { objects: new OrderedMap(), changedAt: 0 };
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }
}

function firstOf(objects: OrderedMap<Stored>, prefix: string, after: string, limit: number): Stored[] {
  const items: Stored[] = [];
  objects.walk(prefix, after, (item) => {
    items.push(item);
    return items.length !== limit;
  });
  return items;
}
