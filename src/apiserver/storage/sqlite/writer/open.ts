import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../types.ts';
import type { DatabaseSettings } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { readOrigin, writeOrigin } from '../origin.ts';
import { integer, text } from '../row.ts';
import { recordChecksum } from './checksum.ts';
import { corrupt, openError } from './errors.ts';
import { applicationId, firstRevision, formatVersion, pageBytes, schema } from './schema.ts';
import { upgrade } from './upgrade.ts';

export interface OpenedDatabase {
  readonly connection: DatabaseSync;
  /** Whether the tables were created just now. */
  readonly fresh: boolean;
  readonly groupSuffix: string;
  /** Undefined when it was not recorded. */
  readonly origin: StoreOrigin | undefined;
}

/**
 * Opens the database exclusively: locking_mode is set before the first access, so that SQLite holds the file's lock for
 * as long as the connection lives and needs no shared memory file. Creates the tables where there are none, and upgrades
 * those of an older format. Throws a StorageError.
 */
export function openDatabase(settings: DatabaseSettings): OpenedDatabase {
  try {
    const connection = new DatabaseSync(settings.file, { timeout: 0, allowExtension: false });
    try {
      return { connection, ...prepare(connection, settings) };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw openError(settings.file, error);
  }
}

function prepare(database: DatabaseSync, settings: DatabaseSettings): Omit<OpenedDatabase, 'connection'> {
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
  const format = formatOf(database, settings.file);
  const fresh = format === 0;
  if (fresh) database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
  database.exec(
    'PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 33554432',
  );
  if (settings.limitBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(settings.limitBytes / pageBytes))}`);
  }
  if (fresh) create(database, settings);
  else upgrade(database, format);
  return { fresh, groupSuffix: checkRecord(database, settings), origin: readOrigin(database) };
}

/** The format of the file, 0 when it is new; throws when it is another program's or of a newer format. */
function formatOf(database: DatabaseSync, file: string): number {
  const id = pragma(database, 'application_id');
  const format = pragma(database, 'user_version');
  if (id === 0 && format === 0) {
    const row = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
    if (integer(row?.['tables']) === 0) return 0;
  }
  if (id !== applicationId) throw corrupt(file, 'it is a database of another program');
  if (format < 1) throw corrupt(file, `it has the format ${format}`);
  if (format <= formatVersion) return format;
  const versions = `it has format ${format}, this program knows up to ${formatVersion}`;
  throw new StorageError(
    'newerFormat',
    `the store ${file} is of a newer version of nodeward: ${versions}; use that version`,
  );
}

function create(database: DatabaseSync, { file, groupSuffix, origin }: DatabaseSettings): void {
  if (groupSuffix === undefined) throw new StorageError('unusable', `the file ${file} holds no store yet`);
  const record = { groupSuffix, revision: firstRevision, compacted: 0, historyBytes: 0 };
  database.exec('BEGIN IMMEDIATE');
  database.exec(schema);
  database
    .prepare(
      'INSERT INTO store (id, group_suffix, revision, compacted, history_bytes, checksum) VALUES (1, ?, ?, 0, 0, ?)',
    )
    .run(groupSuffix, firstRevision, recordChecksum(record));
  if (origin !== undefined) writeOrigin(database, origin);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}`);
  database.exec('COMMIT');
}

/** Returns the group suffix that the store was created with. */
function checkRecord(database: DatabaseSync, settings: DatabaseSettings): string {
  const row = database.prepare('SELECT * FROM store WHERE id = 1').get();
  if (row === undefined) throw corrupt(settings.file, 'its first record is missing');
  const groupSuffix = text(row['group_suffix']);
  const record = {
    groupSuffix,
    revision: integer(row['revision']),
    compacted: integer(row['compacted']),
    historyBytes: integer(row['history_bytes']),
  };
  if (recordChecksum(record) !== integer(row['checksum'])) {
    throw corrupt(settings.file, 'its first record is not what was written');
  }
  if (settings.groupSuffix === undefined || groupSuffix === settings.groupSuffix) return groupSuffix;
  throw new StorageError(
    'wrongIdentity',
    `the store ${settings.file} was made with the group suffix ${groupSuffix}, not ${settings.groupSuffix}; ` +
      `start with --group-suffix ${groupSuffix} or with another folder`,
  );
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return integer(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
