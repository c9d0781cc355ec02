import type { ChangeBatch, Outcome, Page, Revision, Store, Write } from '../../apiserver/storage/index.ts';

/** Not below `/registry/`, so that no kind ever sees it. */
const markKey = '/testing/history';

export interface FaultyStoreOptions {
  /** Commits a write, or does not. */
  commit(write: Write, store: Store): Promise<Outcome>;
}

/** A store whose writes can be made to fail and whose history can be made to end. Owns the store behind it. */
export class FaultyStore implements Store {
  readonly #store: Store;
  readonly #options: FaultyStoreOptions;
  #expired = new AbortController();
  /** Settles when the last call of `expire` is over: they go one after the other. */
  #expiring: Promise<unknown> = Promise.resolve();
  /** Resolves when somebody follows all changes anew. */
  #followed = Promise.withResolvers<void>();

  constructor(store: Store, options: FaultyStoreOptions) {
    this.#store = store;
    this.#options = options;
  }

  get failed(): AbortSignal {
    return this.#store.failed;
  }

  commit(write: Write): Promise<Outcome> {
    return this.#options.commit(write, this.#store);
  }

  revision(): Promise<Revision> {
    return this.#store.revision();
  }

  listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    return this.#store.listAt(prefix, revision, after, limit);
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    const expired = this.#expired.signal;
    if (prefix === '') this.#followed.resolve();
    yield* this.#store.changes(prefix, after, AbortSignal.any([signal, expired]));
    if (expired.aborted && !signal.aborted) yield 'compacted';
  }

  compact(upTo: Revision): Promise<void> {
    return this.#store.compact(upTo);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Makes a revision that nobody has seen and forgets all before it. Whoever follows is told that history is gone,
   * reads the store again, and follows anew; then this resolves, with the revision.
   */
  expire(): Promise<Revision> {
    const expired = this.#expiring.then(() => this.#expire());
    this.#expiring = expired.catch(() => undefined);
    return expired;
  }

  async #expire(): Promise<Revision> {
    const revision = await this.#mark(0);
    await this.#store.compact(revision);
    const expired = this.#expired;
    this.#expired = new AbortController();
    this.#followed = Promise.withResolvers();
    expired.abort();
    await this.#followed.promise;
    return revision;
  }

  async #mark(expect: Revision): Promise<Revision> {
    const outcome = await this.#store.commit({ key: markKey, expect, value: Buffer.from('{}') });
    if (outcome.ok) return outcome.revision;
    if (outcome.code === 'conflict') return await this.#mark(outcome.now?.revision ?? 0);
    throw outcome.cause;
  }
}
