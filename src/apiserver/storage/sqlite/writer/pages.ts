import { integer, text } from '../row.ts';
import { pageBytes } from './schema.ts';
import type { Statements } from './statements.ts';

/** How an existing file gives free pages back (sqlite.org/pragma.html#pragma_auto_vacuum). */
const incremental = 2;

/** The database's files as pages: checkpoints of the log file, free pages, the check of SQLite's structures. */
export class Pages {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** How many pages of the log file are not in the database file yet. */
  countToCheckpoint(): number {
    const row = this.#statements.sql('PRAGMA wal_checkpoint(NOOP)').get();
    return integer(row?.['log']) - integer(row?.['checkpointed']);
  }

  /** Writes the log file's pages into the database file and syncs it; the log file is used from its start. */
  checkpoint(): void {
    this.#statements.sql('PRAGMA wal_checkpoint(PASSIVE)').get();
  }

  /** As checkpoint(), and empties the log file. Throws when not everything could be written. */
  checkpointAll(): void {
    const row = this.#statements.sql('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (integer(row?.['busy']) !== 0) throw new Error('the log file could not be emptied');
  }

  /** The size of the whole database, and what of it is free, in bytes. */
  size(): { bytes: number; freeBytes: number } {
    const free = this.#statements.pragma('freelist_count');
    return { bytes: this.#statements.pragma('page_count') * pageBytes, freeBytes: free * pageBytes };
  }

  /** Whether the database may still grow by this much, or has it free. It does not consider the disk. */
  mayGrow(bytes: number): boolean {
    const { bytes: size, freeBytes } = this.size();
    return this.#statements.pragma('max_page_count') * pageBytes - size + freeBytes >= bytes;
  }

  /** Whether free pages can be given back some at a time; else only all at once, by rebuild(). */
  get shrinksInSteps(): boolean {
    return this.#statements.pragma('auto_vacuum') === incremental;
  }

  /** Gives some free pages back to the disk: pages are moved forward, and the end of the file is cut. */
  shrink(pages: number): void {
    this.#statements.sql(`PRAGMA incremental_vacuum(${pages})`).all();
  }

  /** Rewrites the whole database without its free pages: needs as much room again, and time in proportion. */
  rebuild(): void {
    this.#statements.sql('PRAGMA auto_vacuum = INCREMENTAL').run();
    this.#statements.sql('VACUUM').run();
  }

  /** The problems that SQLite finds in its own structures, at most `limit`. */
  problems(limit: number): string[] {
    const rows = this.#statements.sql(`PRAGMA integrity_check(${limit})`).all();
    const found = rows.map((row) => text(Object.values(row)[0]));
    return found.length === 1 && found[0] === 'ok' ? [] : found;
  }
}
