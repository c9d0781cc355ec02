import type {
  ChangeBatch,
  Outcome,
  Page,
  Revision,
  State,
  Store,
  StoreChange,
  Stored,
  Write,
} from '../../../src/apiserver/storage/index.ts';

/** With which a value begins that cannot be read. */
const veil = '?'.charCodeAt(0);

/** A store in which another program writes values that cannot be read: all that begin with a question mark. */
export class VeiledStore implements Store {
  readonly #store: Store;
  readonly #isOwner: boolean;
  readonly #closed = new AbortController();

  /** Without `isOwner` the store behind it stays open when this one is closed. */
  constructor(store: Store, isOwner = true) {
    this.#store = store;
    this.#isOwner = isOwner;
  }

  get failed(): AbortSignal {
    return this.#store.failed;
  }

  async commit(write: Write): Promise<Outcome> {
    const outcome = await this.#store.commit(write);
    if (outcome.ok || outcome.code !== 'conflict') return outcome;
    return { ...outcome, now: veiled(outcome.now) };
  }

  revision(): Promise<Revision> {
    return this.#store.revision();
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    const page = await this.#store.listAt(prefix, revision, after, limit);
    if (typeof page === 'string') return page;
    const unreadable = page.items.filter(isVeiled).map(withoutValue);
    return { ...page, items: page.items.filter((item) => !isVeiled(item)), unreadable };
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    const either = AbortSignal.any([signal, this.#closed.signal]);
    for await (const batch of this.#store.changes(prefix, after, either)) {
      yield batch === 'compacted' || 'progress' in batch ? batch : batch.map(veiledChange);
    }
  }

  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#store.foreignKeys(namespace, own);
  }

  compact(upTo: Revision): Promise<void> {
    return this.#store.compact(upTo);
  }

  async close(): Promise<void> {
    if (this.#isOwner) await this.#store.close();
    this.#closed.abort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function isVeiled({ value }: Stored): boolean {
  return value[0] === veil;
}

function withoutValue({ key, revision, createRevision }: Stored): State & { readonly why: string } {
  return { key, revision, createRevision, why: 'it is veiled' };
}

function veiled(state: State | null): State | null {
  return state !== null && 'value' in state && isVeiled(state) ? withoutValue(state) : state;
}

function veiledChange({ previous, next, ...at }: StoreChange): StoreChange {
  return { ...at, previous: veiled(previous), next: veiled(next) };
}
