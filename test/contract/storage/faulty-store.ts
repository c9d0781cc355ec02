import type {
  ChangeBatch,
  Outcome,
  Page,
  Revision,
  Store,
  Write,
} from '../../../src/apiserver/storage/index.ts';

/** A store in front of another, which fails as it is told. */
export class FaultyStore implements Store {
  readonly #store: Store;
  readonly #failed = new AbortController();
  /** How many of the next reads of changes fail, and of the next lists. */
  failures = { changes: 0, lists: 0 };
  /** History is gone once. */
  compactedOnce = false;
  #interrupt = new AbortController();

  constructor(store: Store) {
    this.#store = store;
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Makes all who follow changes fail now. */
  interrupt(): void {
    this.#interrupt.abort();
    this.#interrupt = new AbortController();
  }

  /** Is gone for good. */
  die(error: Error): void {
    this.failures = { changes: Number.POSITIVE_INFINITY, lists: Number.POSITIVE_INFINITY };
    this.interrupt();
    this.#failed.abort(error);
  }

  commit(write: Write): Promise<Outcome> {
    return this.#store.commit(write);
  }

  revision(): Promise<Revision> {
    return this.#store.revision();
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    if (this.failures.lists-- > 0) throw new Error('a list of the test fails');
    return await this.#store.listAt(prefix, revision, after, limit);
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    if (this.failures.changes-- > 0) throw new Error('a read of the test fails');
    if (this.compactedOnce) {
      this.compactedOnce = false;
      yield 'compacted';
      return;
    }
    const interrupted = this.#interrupt.signal;
    yield* this.#store.changes(prefix, after, AbortSignal.any([signal, interrupted]));
    if (interrupted.aborted) throw new Error('a read of the test fails');
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
}
