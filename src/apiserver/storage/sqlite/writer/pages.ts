import { integer, text } from '../row.ts';
import { pageBytes } from './schema.ts';
import type { Statements } from './statements.ts';

/** How an existing file gives free pages back (sqlite.org/pragma.html#pragma_auto_vacuum). */
const incremental = 2;

/** The database's files as pages: the log file that is written back, free pages, the whole as SQLite sees it. */
export class Pages {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** How many pages of the log file are not in the database file yet. */
  toCheckpoint(): number {
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

  /** Whether the database may still grow by so much, or has it free. It says nothing of the disk. */
  mayGrow(bytes: number): boolean {
    const { bytes: size, freeBytes } = this.size();
    return this.#statements.pragma('max_page_count') * pageBytes - size + freeBytes >= bytes;
  }

  /** Whether free pages can be given back some at a time; else only all at once, by rebuild(). */
  get shrinksInSteps(): boolean {
    return this.#statements.pragma('auto_vacuum') === incremental;
  }

  /** Gives some free pages back to the disk, those at the end of the file after others were moved. */
  shrink(pages: number): void {
    this.#statements.sql(`PRAGMA incremental_vacuum(${pages})`).all();
  }

  /** Writes the whole database anew without its free pages: needs that much room, and takes its time. */
  rebuild(): void {
    this.#statements.sql('PRAGMA auto_vacuum = INCREMENTAL').run();
    this.#statements.sql('VACUUM').run();
  }

  /** What SQLite finds wrong with its own structures, at most `limit` things. */
  problems(limit: number): string[] {
    const rows = this.#statements.sql(`PRAGMA integrity_check(${limit})`).all();
    const found = rows.map((row) => text(Object.values(row)[0]));
    return found.length === 1 && found[0] === 'ok' ? [] : found;
  }
}
