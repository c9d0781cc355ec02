import type { ChangeBatch, Outcome, Page, Revision, State, Store, StoreChange, Write } from './types.ts';

/** How revisions are counted in a store that continues another one after a migration. */
export interface Numbering {
  /** Added to the revisions of the store behind. */
  readonly offset: number;
  /** All before this revision counts as forgotten: it is of the previous store, or incompletely copied. */
  readonly floor: Revision;
}

/** The revision of no object. */
const never = Number.MAX_SAFE_INTEGER;

/** A store whose revisions continue after those of the store that was migrated into it. It owns the store behind it. */
export class RenumberedStore implements Store {
  readonly #store: Store;
  readonly #offset: number;
  readonly #floor: Revision;

  constructor(store: Store, { offset, floor }: Numbering) {
    this.#store = store;
    this.#offset = offset;
    this.#floor = floor;
  }

  get failed(): AbortSignal {
    return this.#store.failed;
  }

  get shared(): boolean {
    return this.#store.shared ?? false;
  }

  get doubtful(): Revision {
    const doubtful = this.#store.doubtful ?? 0;
    return doubtful === 0 ? 0 : doubtful + this.#offset;
  }

  async commit(write: Write): Promise<Outcome> {
    const { expect, previous } = write;
    const outcome = await this.#store.commit({
      ...write,
      expect: this.#toInner(expect),
      previous: previous && shift(previous, -this.#offset),
    });
    if (!outcome.ok && outcome.code !== 'conflict') return outcome;
    const revision = outcome.revision + this.#offset;
    if (outcome.ok) return { ...outcome, now: this.#toOuter(outcome.now), revision };
    return { ...outcome, now: this.#toOuter(outcome.now), revision };
  }

  async revision(): Promise<Revision> {
    return (await this.#store.revision()) + this.#offset;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    if (revision < this.#floor) return 'compacted';
    const page = await this.#store.listAt(prefix, revision - this.#offset, after, limit);
    if (typeof page === 'string') return page;
    const items = page.items.map((item) => shift(item, this.#offset));
    const unreadable = page.unreadable?.map((one) => shift(one, this.#offset));
    return { ...page, revision, items, unreadable };
  }

  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#store.foreignKeys(namespace, own);
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted', void> {
    if (after < this.#floor) {
      await this.#store.revision(); // throws where it is closed
      if (!signal.aborted) yield 'compacted';
      return;
    }
    for await (const batch of this.#store.changes(prefix, after - this.#offset, signal)) {
      if (batch === 'compacted') yield batch;
      else if ('progress' in batch) yield { progress: batch.progress + this.#offset };
      else yield batch.map((change) => this.#toOuterChange(change));
    }
  }

  async compact(upTo: Revision): Promise<void> {
    await this.#store.compact(Math.max(0, upTo - this.#offset));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A revision of the previous store is the revision of no object here. */
  #toInner(expect: Revision): Revision {
    if (!Number.isSafeInteger(expect) || expect <= 0) return expect;
    return expect > this.#offset ? expect - this.#offset : never;
  }

  #toOuterChange({ key, revision, previous, next }: StoreChange): StoreChange {
    return {
      key,
      revision: revision + this.#offset,
      previous: this.#toOuter(previous),
      next: this.#toOuter(next),
    };
  }

  #toOuter<S extends State>(state: S | null): S | null {
    return state === null ? null : shift(state, this.#offset);
  }
}

function shift<S extends State>(state: S, by: number): S {
  return { ...state, revision: state.revision + by, createRevision: state.createRevision + by };
}
