import type { StatementSync } from 'node:sqlite';
import { bucketOf, compareKeys, endOfPrefix } from '../../key-order.ts';
import type { Revision } from '../../types.ts';
import type { DatabaseSettings } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { blob, integer, text } from '../row.ts';
import type { LogEntry, StoreRecord } from './checksum.ts';
import { recordChecksum, rowBytes, rowBytesSql, rowChecksum } from './checksum.ts';
import { damagedRow } from './errors.ts';
import { openDatabase } from './open.ts';
import { Pages } from './pages.ts';
import { Statements } from './statements.ts';

/** A key's newest version; a `createRevision` of 0: it is deleted. */
export interface Head {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  /** The size of its row. */
  readonly bytes: number;
}

export interface Version {
  readonly createRevision: Revision;
  readonly value: Uint8Array;
}

/** Greater than every text in SQLite's order of values. */
const behindAllText = new Uint8Array(0);
const noValue = new Uint8Array(0);

/** The statements on one open connection. Any method throws node:sqlite's errors. */
export class Database implements Disposable {
  /** Whether the store was created just now. */
  readonly fresh: boolean;
  readonly file: string;
  readonly origin: StoreOrigin | undefined;
  readonly pages: Pages;
  readonly #statements: Statements;
  readonly #buckets = new Map<string, number>();
  readonly #groupSuffix: string;

  constructor(settings: DatabaseSettings) {
    const { connection, fresh, groupSuffix, origin } = openDatabase(settings);
    this.fresh = fresh;
    this.origin = origin;
    this.file = settings.file;
    this.#groupSuffix = groupSuffix;
    this.#statements = new Statements(connection);
    this.pages = new Pages(this.#statements);
  }

  record(): StoreRecord {
    const row = this.#sql('SELECT revision, compacted, history_bytes FROM store WHERE id = 1').get();
    return {
      groupSuffix: this.#groupSuffix,
      revision: integer(row?.['revision']),
      compacted: integer(row?.['compacted']),
      historyBytes: integer(row?.['history_bytes']),
    };
  }

  saveState(state: Omit<StoreRecord, 'groupSuffix'>): void {
    const { revision, compacted, historyBytes } = state;
    const checksum = recordChecksum({ groupSuffix: this.#groupSuffix, revision, compacted, historyBytes });
    this.#sql(
      'UPDATE store SET revision = ?, compacted = ?, history_bytes = ?, checksum = ? WHERE id = 1',
    ).run(revision, compacted, historyBytes, checksum);
  }

  head(key: string): Head | undefined {
    const row = this.#sql(`SELECT ${headColumns} FROM head WHERE key = ?`).get(key);
    return row === undefined ? undefined : headOf(row);
  }

  /** The heads of keys that start with `prefix` and are greater than `after`, in order. */
  *heads(prefix: string, after: string): Generator<Head> {
    const from = compareKeys(after, prefix) > 0 ? after : prefix;
    const statement = this.#sql(
      `SELECT ${headColumns} FROM head WHERE key >= ? AND key < ? AND key <> ? ORDER BY key`,
    );
    for (const row of statement.iterate(from, endOfPrefix(prefix) ?? behindAllText, after)) yield headOf(row);
  }

  /** A key's value at a revision. Throws a StorageError when it is not what was written. */
  version(revision: Revision, key: string): Version | undefined {
    const row = this.#sql(`SELECT ${entryColumns}, value, checksum FROM log WHERE revision = ?`).get(
      revision,
    );
    if (row === undefined) return undefined;
    const entry = entryOf(row);
    const value = blob(row['value']);
    const isWhole = entry.key === key && rowChecksum(entry, value) === integer(row['checksum']);
    if (!isWhole) throw damagedRow(this.file, key, revision);
    return { createRevision: entry.createRevision, value };
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
    const bytes = value ?? noValue;
    const bucket = this.#bucketId(bucketOf(key));
    this.#sql(
      'INSERT INTO log (revision, bucket, create_revision, previous_revision, key, value, checksum) ' +
        'VALUES (?, ?, ?, ?, ?, ?, ?)',
    ).run(revision, bucket, createRevision, previousRevision, key, bytes, rowChecksum(entry, bytes));
    const head =
      previousRevision === 0
        ? 'INSERT INTO head (revision, create_revision, bytes, key) VALUES (?, ?, ?, ?)'
        : 'UPDATE head SET revision = ?, create_revision = ?, bytes = ? WHERE key = ?';
    this.#sql(head).run(revision, createRevision, rowBytes(key, value), key);
  }

  /** Returns the bytes that the row took. */
  dropVersion(revision: Revision): number {
    const row = this.#sql(`DELETE FROM log WHERE revision = ? RETURNING ${rowBytesSql} AS bytes`).get(
      revision,
    );
    return row === undefined ? 0 : integer(row['bytes']);
  }

  dropHead(key: string, revision: Revision): void {
    this.#sql('DELETE FROM head WHERE key = ? AND revision = ?').run(key, revision);
  }

  /** Runs `work` in one transaction, durable when this returns. On an error nothing of it remains. */
  transaction<T>(work: () => T): T {
    try {
      return this.#statements.transaction(work);
    } catch (error) {
      this.#buckets.clear();
      throw error;
    }
  }

  /** Moves everything into the database file: closing then neither leaves nor touches another file. */
  leaveOneFile(): void {
    this.#sql('PRAGMA journal_mode = DELETE').get();
  }

  /** Other statements, for maintenance tasks. */
  sql(source: string): StatementSync {
    return this.#sql(source);
  }

  [Symbol.dispose](): void {
    this.#statements[Symbol.dispose]();
  }

  #sql(source: string): StatementSync {
    return this.#statements.sql(source);
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

const headColumns = 'key, revision, create_revision, bytes';
const entryColumns = 'key, revision, create_revision, previous_revision';

export type Row = NonNullable<ReturnType<StatementSync['get']>>;

function headOf(row: Row): Head {
  return {
    key: text(row['key']),
    revision: integer(row['revision']),
    createRevision: integer(row['create_revision']),
    bytes: integer(row['bytes']),
  };
}

/** A row of the log by its columns key, revision, create_revision, previous_revision. */
export function entryOf(row: Row): LogEntry {
  return {
    key: text(row['key']),
    revision: integer(row['revision']),
    createRevision: integer(row['create_revision']),
    previousRevision: integer(row['previous_revision']),
  };
}
