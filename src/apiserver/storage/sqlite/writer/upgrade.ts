import type { DatabaseSync } from 'node:sqlite';
import { blob, integer, text } from '../row.ts';
import { recordChecksum, rowBytesSql, rowChecksum } from './checksum.ts';
import { formatVersion } from './schema.ts';

/** Upgrades a store of an older format to the present one: completely, or on an error not at all. */
export function upgrade(database: DatabaseSync, from: number): void {
  if (from === formatVersion) return;
  defineChecksums(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    if (from < 2) database.exec(toFormat2);
    database.exec(`PRAGMA user_version = ${formatVersion}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The size of the rows that only history needs: those that a later row replaced, and deletions. */
const historyBytesSql = `
  (SELECT coalesce(sum(${rowBytesSql}), 0) FROM log WHERE create_revision = 0) +
  (SELECT coalesce(sum(${rowBytesSql}), 0) FROM log
    WHERE create_revision <> 0 AND revision NOT IN (SELECT revision FROM head))`;

const toFormat2 = `
ALTER TABLE log ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE log SET checksum = row_checksum(key, revision, create_revision, previous_revision, value);
ALTER TABLE head ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE head SET bytes = coalesce((SELECT ${rowBytesSql} FROM log WHERE log.revision = head.revision), 0);
ALTER TABLE store ADD COLUMN history_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE store SET history_bytes = ${historyBytesSql};
ALTER TABLE store ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE store SET checksum = record_checksum(group_suffix, revision, compacted, history_bytes);
`;

/** Defines the checksums as SQL functions. They live as long as the connection, and only the upgrade calls them. */
function defineChecksums(database: DatabaseSync): void {
  database.function('row_checksum', (key, revision, createRevision, previousRevision, value) => {
    const entry = {
      key: text(key),
      revision: integer(revision),
      createRevision: integer(createRevision),
      previousRevision: integer(previousRevision),
    };
    return rowChecksum(entry, blob(value));
  });
  database.function('record_checksum', (groupSuffix, revision, compacted, historyBytes) => {
    const numbers = {
      revision: integer(revision),
      compacted: integer(compacted),
      historyBytes: integer(historyBytes),
    };
    return recordChecksum({ groupSuffix: text(groupSuffix), ...numbers });
  });
}
