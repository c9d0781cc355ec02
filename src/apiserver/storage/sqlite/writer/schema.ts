/**
 * The tables. `log` holds every version of every key within the window of history, one row per revision;
 * `head` names the newest row of each key. Older versions are found by following `previous_revision`, so only heads are
 * updated in place: a write appends a row and points the head to it.
 *
 *     head   key ──► revision 17
 *     log    17 ──previous──► 9 ──previous──► 4        (9 and 4 go when history before 17 is forgotten)
 *
 * A `create_revision` of 0 marks a deletion. `value` and its checksum come last, so that reading the columns
 * before them does not touch overflow pages. The index by bucket replays one resource without reading all others.
 * `head.bytes` is the size of the row it points to (rowBytes); `store.history_bytes` that of all rows no head needs.
 */
export const schema = `
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  group_suffix TEXT NOT NULL,
  revision INTEGER NOT NULL,
  compacted INTEGER NOT NULL,
  history_bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE bucket (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE head (
  key TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  create_revision INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE log (
  revision INTEGER PRIMARY KEY,
  bucket INTEGER NOT NULL,
  create_revision INTEGER NOT NULL,
  previous_revision INTEGER NOT NULL,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX log_by_bucket ON log (bucket);
`;

/** Raised with every change after which an older program cannot read the tables. 2: checksums and sizes. */
export const formatVersion = 2;

/** Marks the file as ours ("nodw"), in SQLite's header. */
export const applicationId = 0x6e6f6477;

/** The new store's revision: 0 is not used, since clients take a resourceVersion of 0 for "any". */
export const firstRevision = 1;

export const pageBytes = 4_096;
