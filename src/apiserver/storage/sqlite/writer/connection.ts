import type { WriterSettings } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { Database } from './database.ts';
import { corrupt, describeSqlite } from './errors.ts';
import type { WriterState } from './writer-state.ts';

/** How long a store that could not be opened again is left alone before the next try. */
const retryMs = 250;

/**
 * The open database, and its recovery after an error. After an I/O error the content of the disk is unknown, and the
 * kernel may have dropped pages that it failed to write. So the database is closed and opened again, everything in the
 * log file is written and synced into the database file, and only the state that is read then counts.
 */
export class Connection implements Disposable {
  readonly state: WriterState;
  readonly settings: WriterSettings;
  /** Whether the store was created when it was opened. */
  readonly fresh: boolean;
  readonly groupSuffix: string;
  readonly origin: StoreOrigin | undefined;
  #database: Database | undefined;
  #failure = '';
  #triedAt = 0;

  /** Throws a StorageError when the store cannot be opened. */
  constructor(settings: WriterSettings) {
    this.settings = settings;
    const database = new Database(settings);
    this.#database = database;
    const { revision, compacted, historyBytes, groupSuffix } = database.record();
    this.fresh = database.fresh;
    this.groupSuffix = groupSuffix;
    this.origin = database.origin;
    this.state = {
      durable: revision,
      issued: revision,
      compacted,
      compactTo: 0,
      historyBytes,
      historyLimitBytes: settings.historyBytes ?? Number.POSITIVE_INFINITY,
      hold: Number.POSITIVE_INFINITY,
    };
  }

  /** Undefined while the store is broken; `failure` says why. */
  get database(): Database | undefined {
    return this.#database;
  }

  get failure(): string {
    return this.#failure;
  }

  /** Whether reopen() is worth calling now. */
  get retryIsDue(): boolean {
    return this.#database === undefined && performance.now() - this.#triedAt >= retryMs;
  }

  /** Gives the connection up after an error that leaves its state unknown. */
  abandon(error: unknown): void {
    this.#failure = describeSqlite(error);
    this.#triedAt = Number.NEGATIVE_INFINITY;
    const database = this.#database;
    this.#database = undefined;
    try {
      database?.[Symbol.dispose]();
    } catch (closing) {
      this.#failure += `; closing failed too: ${describeSqlite(closing)}`;
    }
  }

  /** Opens the store again; false: it is still broken. What is in it is durable from then on. */
  reopen(): boolean {
    this.#triedAt = performance.now();
    let database: Database | undefined;
    try {
      database = new Database(this.settings);
      database.pages.checkpointAll();
      this.#readAgain(database);
      this.#database = database;
      return true;
    } catch (error) {
      this.#failure = describeSqlite(error);
      try {
        database?.[Symbol.dispose]();
      } catch (closing) {
        this.#failure += `; closing failed too: ${describeSqlite(closing)}`;
      }
      return false;
    }
  }

  #readAgain(database: Database): void {
    const { revision, compacted, historyBytes } = database.record();
    if (revision < this.state.durable) {
      throw corrupt(this.settings.file, `revision ${this.state.durable} was on disk, now it is ${revision}`);
    }
    this.state.durable = revision;
    this.state.issued = Math.max(this.state.issued, revision);
    this.state.compacted = compacted;
    this.state.historyBytes = historyBytes;
  }

  [Symbol.dispose](): void {
    this.#database?.[Symbol.dispose]();
    this.#database = undefined;
  }
}
