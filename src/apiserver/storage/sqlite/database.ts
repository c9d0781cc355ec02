import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bucketOf, compareKeys, endOfPrefix } from '../key-order.ts';
import type { Revision } from '../types.ts';
import type { WriterSettings } from './messages.ts';
import { openDatabase } from './open.ts';
import { blob, integer, text } from './row.ts';

/** A key's newest version; a `createRevision` of 0: it is deleted. */
export interface Head {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
}

/** A row of the log without its value. */
export interface LogEntry extends Head {
  readonly previousRevision: Revision;
}

export interface Version {
  readonly createRevision: Revision;
  readonly value: Uint8Array;
}

/** Behind every text in SQLite's order of values. */
const behindAllText = new Uint8Array(0);
const noValue = new Uint8Array(0);

/** The statements on one open connection. Any method throws node:sqlite's errors. */
export class Database implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #buckets = new Map<string, number>();

  constructor(settings: WriterSettings) {
    this.#connection = openDatabase(settings);
  }

  state(): { revision: Revision; compacted: Revision } {
    const row = this.#sql('SELECT revision, compacted FROM store WHERE id = 1').get();
    return { revision: integer(row?.['revision']), compacted: integer(row?.['compacted']) };
  }

  saveState(revision: Revision, compacted: Revision): void {
    this.#sql('UPDATE store SET revision = ?, compacted = ? WHERE id = 1').run(revision, compacted);
  }

  head(key: string): Head | undefined {
    const row = this.#sql('SELECT key, revision, create_revision FROM head WHERE key = ?').get(key);
    return row === undefined ? undefined : headOf(row);
  }

  /** The heads of keys that start with `prefix` and are greater than `after`, in order. */
  *heads(prefix: string, after: string): Generator<Head> {
    const from = compareKeys(after, prefix) > 0 ? after : prefix;
    const statement = this.#sql(
      'SELECT key, revision, create_revision FROM head WHERE key >= ? AND key < ? AND key <> ? ORDER BY key',
    );
    for (const row of statement.iterate(from, endOfPrefix(prefix) ?? behindAllText, after)) yield headOf(row);
  }

  version(revision: Revision): Version | undefined {
    const row = this.#sql('SELECT create_revision, value FROM log WHERE revision = ?').get(revision);
    if (row === undefined) return undefined;
    return { createRevision: integer(row['create_revision']), value: blob(row['value']) };
  }

  entry(revision: Revision): LogEntry | undefined {
    const row = this.#sql(`SELECT ${entryColumns} FROM log WHERE revision = ?`).get(revision);
    return row === undefined ? undefined : entryOf(row);
  }

  /** The log's rows after `after` up to `upTo`, in order; of one bucket, or of all ('') of them. */
  *entries(bucket: string, after: Revision, upTo: Revision): Generator<LogEntry> {
    const range = 'revision > ? AND revision <= ? ORDER BY revision';
    if (bucket === '') {
      const all = this.#sql(`SELECT ${entryColumns} FROM log WHERE ${range}`);
      for (const row of all.iterate(after, upTo)) yield entryOf(row);
      return;
    }
    const id = this.#findBucket(bucket);
    if (id === undefined) return;
    const some = this.#sql(
      `SELECT ${entryColumns} FROM log INDEXED BY log_by_bucket WHERE bucket = ? AND ${range}`,
    );
    for (const row of some.iterate(id, after, upTo)) yield entryOf(row);
  }

  /** Appends a version; `value` null: a deletion. */
  append(entry: LogEntry, value: Uint8Array | null): void {
    const { key, revision, createRevision, previousRevision } = entry;
    this.#sql(
      'INSERT INTO log (revision, bucket, create_revision, previous_revision, key, value) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(revision, this.#bucketId(bucketOf(key)), createRevision, previousRevision, key, value ?? noValue);
    const head =
      previousRevision === 0
        ? 'INSERT INTO head (revision, create_revision, key) VALUES (?, ?, ?)'
        : 'UPDATE head SET revision = ?, create_revision = ? WHERE key = ?';
    this.#sql(head).run(revision, createRevision, key);
  }

  dropVersion(revision: Revision): void {
    this.#sql('DELETE FROM log WHERE revision = ?').run(revision);
  }

  dropHead(key: string, revision: Revision): void {
    this.#sql('DELETE FROM head WHERE key = ? AND revision = ?').run(key, revision);
  }

  /** Runs `work` in one transaction, durable when this returns. On an error nothing of it remains. */
  transaction<T>(work: () => T): T {
    this.#sql('BEGIN').run();
    try {
      const result = work();
      this.#sql('COMMIT').run();
      return result;
    } catch (error) {
      this.#buckets.clear();
      if (this.#connection.isTransaction) this.#sql('ROLLBACK').run();
      throw error;
    }
  }

  /** How many pages of the log file are not in the database file yet. */
  pagesToCheckpoint(): number {
    const row = this.#sql('PRAGMA wal_checkpoint(NOOP)').get();
    return integer(row?.['log']) - integer(row?.['checkpointed']);
  }

  /** Writes the log file's pages into the database file and syncs it; the log file is used from its start. */
  checkpoint(): void {
    this.#sql('PRAGMA wal_checkpoint(PASSIVE)').get();
  }

  /** As checkpoint(), and empties the log file. Throws when not everything could be written. */
  checkpointAll(): void {
    const row = this.#sql('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (integer(row?.['busy']) !== 0) throw new Error('the log file could not be emptied');
  }

  [Symbol.dispose](): void {
    if (this.#connection.isOpen) this.#connection.close();
  }

  #sql(source: string): StatementSync {
    const known = this.#statements.get(source);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(source);
    this.#statements.set(source, statement);
    return statement;
  }

  #bucketId(name: string): number {
    const known = this.#findBucket(name);
    if (known !== undefined) return known;
    this.#sql('INSERT INTO bucket (name) VALUES (?)').run(name);
    return this.#findBucket(name) ?? 0;
  }

  #findBucket(name: string): number | undefined {
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const row = this.#sql('SELECT id FROM bucket WHERE name = ?').get(name);
    if (row === undefined) return undefined;
    const id = integer(row['id']);
    this.#buckets.set(name, id);
    return id;
  }
}

const entryColumns = 'key, revision, create_revision, previous_revision';

type Row = NonNullable<ReturnType<StatementSync['get']>>;

function headOf(row: Row): Head {
  return {
    key: text(row['key']),
    revision: integer(row['revision']),
    createRevision: integer(row['create_revision']),
  };
}

function entryOf(row: Row): LogEntry {
  return { ...headOf(row), previousRevision: integer(row['previous_revision']) };
}
