import type { Change, ChangeBatch, Outcome, Page, Revision, Store, Stored, Write } from './types.ts';

/** How the revisions of a store that went on in another one are counted there. */
export interface Numbering {
  /** What is added to the revisions of the store behind. */
  readonly offset: number;
  /** All before this one counts as forgotten: it is of the store from before, or half copied. */
  readonly floor: Revision;
}

/** Equal to no revision of any object. */
const never = Number.MAX_SAFE_INTEGER;

/** A store whose revisions go on where those of another one ended. It owns the one behind. */
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
      expect: this.#expected(expect),
      previous: previous && this.#moved(previous, -this.#offset),
    });
    if (!outcome.ok && outcome.code !== 'conflict') return outcome;
    const now = this.#shown(outcome.now);
    return { ...outcome, now, revision: outcome.revision + this.#offset };
  }

  async revision(): Promise<Revision> {
    return (await this.#store.revision()) + this.#offset;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    if (revision < this.#floor) return 'compacted';
    const page = await this.#store.listAt(prefix, revision - this.#offset, after, limit);
    if (typeof page === 'string') return page;
    return { ...page, revision, items: page.items.map((item) => this.#moved(item, this.#offset)) };
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
      else yield batch.map((change) => this.#change(change));
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

  /** What is of the store from before is no object's revision here. */
  #expected(expect: Revision): Revision {
    if (!Number.isSafeInteger(expect) || expect <= 0) return expect;
    return expect > this.#offset ? expect - this.#offset : never;
  }

  #change({ key, revision, previous, next }: Change): Change {
    return {
      key,
      revision: revision + this.#offset,
      previous: this.#shown(previous),
      next: this.#shown(next),
    };
  }

  #shown(state: Stored | null): Stored | null {
    return state === null ? null : this.#moved(state, this.#offset);
  }

  #moved({ key, revision, createRevision, value }: Stored, by: number): Stored {
    return { key, revision: revision + by, createRevision: createRevision + by, value };
  }
}
