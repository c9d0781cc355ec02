import { DatabaseSync } from 'node:sqlite';
import { bytes, lease } from './scenario.ts';

/** The tables as the first format had them. */
const schema = `
CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), group_suffix TEXT NOT NULL, revision INTEGER NOT NULL, compacted INTEGER NOT NULL) STRICT;
CREATE TABLE bucket (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE head (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, create_revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE log (revision INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, create_revision INTEGER NOT NULL, previous_revision INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL) STRICT;
CREATE INDEX log_by_bucket ON log (bucket);
`;

/**
 * A store as a program of the first format left it: `a` made at 5 and written again at 7, `b` made at 6 and deleted at
 * 8, `c` made at 3 with 20,000 bytes; compacted up to 4, and now at 8. Then `more` others with 1,000 bytes each.
 */
export function makeFormat1(file: string, more = 0): void {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL');
  database.exec(schema);
  database.exec(`INSERT INTO store VALUES (1, 'k8s.io', ${8 + more}, 4)`);
  database.exec(`INSERT INTO bucket VALUES (1, '/registry/leases/')`);
  const log = database.prepare('INSERT INTO log VALUES (?, 1, ?, ?, ?, ?)');
  log.run(3, 3, 0, lease('c'), bytes('c'.repeat(20_000)));
  log.run(5, 5, 0, lease('a'), bytes('1'));
  log.run(6, 6, 0, lease('b'), bytes('1'));
  log.run(7, 5, 5, lease('a'), bytes('2'));
  log.run(8, 0, 6, lease('b'), new Uint8Array());
  const head = database.prepare('INSERT INTO head VALUES (?, ?, ?)');
  head.run(lease('a'), 7, 5);
  head.run(lease('b'), 8, 0);
  head.run(lease('c'), 3, 3);
  database.exec('BEGIN');
  for (let revision = 9; revision <= 8 + more; revision++) {
    log.run(revision, revision, 0, lease(`more-${revision}`), bytes(String(revision).repeat(1_000)));
    head.run(lease(`more-${revision}`), revision, revision);
  }
  database.exec('COMMIT');
  database.exec(`PRAGMA application_id = ${0x6e6f6477}; PRAGMA user_version = 1`);
}
