import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../types.ts';
import { corrupt, openError } from './errors.ts';
import type { WriterSettings } from './messages.ts';
import { integer, text } from './row.ts';
import { applicationId, firstRevision, formatVersion, pageBytes, schema } from './schema.ts';

/**
 * Opens the database alone: EXCLUSIVE before the first access, so that SQLite takes the file's lock for as
 * long as the connection lives and needs no shared memory file. Makes the tables where there are none.
 * Throws a StorageError.
 */
export function openDatabase(settings: WriterSettings): DatabaseSync {
  try {
    const database = new DatabaseSync(settings.file, { timeout: 0, allowExtension: false });
    try {
      prepare(database, settings);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw openError(settings.file, error);
  }
}

function prepare(database: DatabaseSync, settings: WriterSettings): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
  const fresh = isFresh(database, settings.file);
  if (fresh) database.exec(`PRAGMA page_size = ${pageBytes}`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
  database.exec(
    'PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 33554432',
  );
  if (settings.limitBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(settings.limitBytes / pageBytes))}`);
  }
  if (fresh) create(database, settings);
  else checkIdentity(database, settings);
}

/** Whether the file is new; throws when it is somebody else's or of a newer format. */
function isFresh(database: DatabaseSync, file: string): boolean {
  const id = pragma(database, 'application_id');
  const format = pragma(database, 'user_version');
  if (id === 0 && format === 0) {
    const row = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
    if (integer(row?.['tables']) === 0) return true;
  }
  if (id !== applicationId) throw corrupt(file, 'it is a database of another program');
  if (format <= formatVersion) return false;
  const versions = `it has format ${format}, this program knows up to ${formatVersion}`;
  throw new StorageError('newerFormat', `the store ${file} is of a newer version of nodeward: ${versions}`);
}

function create(database: DatabaseSync, settings: WriterSettings): void {
  database.exec('BEGIN IMMEDIATE');
  database.exec(schema);
  database
    .prepare('INSERT INTO store (id, group_suffix, revision, compacted) VALUES (1, ?, ?, 0)')
    .run(settings.groupSuffix, firstRevision);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}`);
  database.exec('COMMIT');
}

function checkIdentity(database: DatabaseSync, settings: WriterSettings): void {
  const row = database.prepare('SELECT group_suffix FROM store WHERE id = 1').get();
  if (row === undefined) throw corrupt(settings.file, 'its first record is missing');
  const recorded = text(row['group_suffix']);
  if (recorded === settings.groupSuffix) return;
  throw new StorageError(
    'wrongIdentity',
    `the store ${settings.file} was made with the group suffix ${recorded}, not ${settings.groupSuffix}; ` +
      `start with --group-suffix ${recorded} or with another folder`,
  );
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return integer(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
