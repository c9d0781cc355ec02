import type { Clock } from '../../../base/index.ts';
import { systemClock } from '../../../base/index.ts';
import { ChangeFeed } from '../feed.ts';
import { defaultHistoryMs, HistoryWindow } from '../history-window.ts';
import type { ChangeBatch, Outcome, Page, Revision, Store, Write } from '../types.ts';
import { StorageError } from '../types.ts';
import { bytesToKeep, checkWrite, failure } from '../write-checks.ts';
import { Versions } from './versions.ts';

export interface MemoryStoreOptions {
  /** How long history is kept; default 5 minutes. */
  readonly historyMs?: number;
  readonly clock?: Clock;
}

/** A store that lives as long as the process: for tests. Fulfils the whole contract except durability. */
export class MemoryStore implements Store {
  /** Never aborts. */
  readonly failed = new AbortController().signal;
  readonly #versions = new Versions();
  readonly #feed = new ChangeFeed(this.#versions.revision, async (prefix, after, upTo) => {
    this.#mustBeOpen();
    const changes = this.#versions.since(after);
    if (changes === undefined) return 'compacted';
    return { changes: changes.filter((change) => change.key.startsWith(prefix)), through: upTo };
  });
  readonly #window: HistoryWindow;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#window = new HistoryWindow({
      historyMs: options.historyMs ?? defaultHistoryMs,
      clock: options.clock ?? systemClock,
      revision: () => this.#versions.revision,
      compact: async (upTo) => this.#forget(upTo),
    });
  }

  async commit(write: Write): Promise<Outcome> {
    const refusal = checkWrite(write);
    if (refusal !== undefined) return refusal;
    if (this.#closed) return failure('unavailable', closedError());
    const { key, expect, value } = write;
    const now = this.#versions.current(key);
    const revision = this.#versions.revision;
    if ((now?.revision ?? 0) !== expect || (now === null && value === null)) {
      return { ok: false, code: 'conflict', now, revision };
    }
    const change = this.#versions.write(key, value === null ? null : bytesToKeep(value));
    this.#feed.append([change], change.revision);
    return { ok: true, revision: change.revision, now: change.next };
  }

  async revision(): Promise<Revision> {
    this.#mustBeOpen();
    return this.#versions.revision;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    this.#mustBeOpen();
    return this.#versions.listAt(prefix, revision, after, limit);
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    this.#mustBeOpen();
    yield* this.#feed.changes(prefix, after, signal);
  }

  async foreignKeys(): Promise<ReadonlyMap<string, number>> {
    this.#mustBeOpen();
    return new Map();
  }

  async compact(upTo: Revision): Promise<void> {
    this.#mustBeOpen();
    this.#forget(upTo);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#window[Symbol.dispose]();
    this.#feed.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #forget(upTo: Revision): void {
    this.#versions.forget(upTo);
    this.#feed.forget(this.#versions.compacted);
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError();
  }
}

function closedError(): StorageError {
  return new StorageError('closed', 'the store in memory is closed');
}
