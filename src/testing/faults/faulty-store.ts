import type { ChangeBatch, Outcome, Page, Revision, Store, Write } from '../../apiserver/storage/index.ts';

/** Not below `/registry/`, so that it belongs to no kind. */
const expiryKey = '/testing/history';

interface FaultyStoreOptions {
  /** Called instead of the store's own `commit`. */
  commit(write: Write, store: Store): Promise<Outcome>;
}

/** A store whose writes can fail and whose history can be dropped by a test. Owns the wrapped store. */
export class FaultyStore implements Store {
  readonly #store: Store;
  readonly #options: FaultyStoreOptions;
  #expired = new AbortController();
  /** Settles when the last call of `expire` has ended; they run one at a time. */
  #expiring: Promise<unknown> = Promise.resolve();
  /** Resolves when a reader follows all changes again. */
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

  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#store.foreignKeys(namespace, own);
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
   * Writes a new revision and compacts everything before it, so that readers of changes must read the store again.
   * Resolves with the revision when a reader follows the changes again.
   */
  expire(): Promise<Revision> {
    const expired = this.#expiring.then(() => this.#expire());
    this.#expiring = expired.catch(() => undefined);
    return expired;
  }

  async #expire(): Promise<Revision> {
    const revision = await this.#writeRevision(0);
    await this.#store.compact(revision);
    const expired = this.#expired;
    this.#expired = new AbortController();
    this.#followed = Promise.withResolvers();
    expired.abort();
    await this.#followed.promise;
    return revision;
  }

  async #writeRevision(expect: Revision): Promise<Revision> {
    const outcome = await this.#store.commit({ key: expiryKey, expect, value: Buffer.from('{}') });
    if (outcome.ok) return outcome.revision;
    if (outcome.code === 'conflict') return await this.#writeRevision(outcome.now?.revision ?? 0);
    throw outcome.cause;
  }
}
