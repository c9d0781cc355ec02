/**
 * Checks everything that is stored: that each row is what was written (its checksum), that each key's head points to a
 * row of that key, that each row is in the right bucket and in the index, that no revision is beyond those that the store
 * has issued. Finally SQLite checks its own structures, in one step that cannot be divided.
 */
import { bucketOf } from '../../key-order.ts';
import type { Revision } from '../../types.ts';
import type { CheckReport } from '../maintenance.ts';
import { blob, integer, text } from '../row.ts';
import type { LogEntry } from '../writer/checksum.ts';
import { rowBytes, rowChecksum } from '../writer/checksum.ts';
import type { Database, Head, Row } from '../writer/database.ts';
import { entryOf } from '../writer/database.ts';
import { describeSqlite, isDamage } from '../writer/errors.ts';
import type { WriterState } from '../writer/writer-state.ts';

/** Bounds of one step. */
const step = { rows: 250, bytes: 2 * 1024 * 1024 };
const maxProblems = 100;

interface Findings {
  readonly problems: string[];
  objects: number;
  rows: number;
}

export function* checkTask(db: Database, state: WriterState): Generator<undefined, CheckReport> {
  const findings: Findings = { problems: [], objects: 0, rows: 0 };
  yield* guarded('the log', findings, checkRows(db, state, findings));
  yield* guarded('the keys', findings, checkHeads(db, findings));
  yield* guarded('the structure', findings, checkStructure(db, findings));
  const { problems, objects, rows } = findings;
  return { file: db.file, revision: state.durable, objects, rows, problems: problems.slice(0, maxProblems) };
}

/** A part that cannot be read to its end is a finding; the next part is checked all the same. */
function* guarded(
  what: string,
  { problems }: Findings,
  part: Generator<undefined, void>,
): Generator<undefined, void> {
  try {
    yield* part;
  } catch (error) {
    if (!isDamage(error)) throw error;
    problems.push(`${what} cannot be read to its end: ${describeSqlite(error)}`);
  }
}

const rowsSql = `
SELECT log.key AS key, log.revision AS revision, log.create_revision AS create_revision,
  previous_revision, value, checksum, bucket.name AS bucket_name, head.revision AS head_revision
FROM log LEFT JOIN bucket ON bucket.id = log.bucket LEFT JOIN head ON head.key = log.key
WHERE log.revision > ? ORDER BY log.revision`;

function* checkRows(db: Database, state: WriterState, findings: Findings): Generator<undefined, void> {
  for (let after: Revision | undefined = -1; after !== undefined && !isEnough(findings); ) {
    after = rowStep(db, state, after, findings);
    yield;
  }
}

function rowStep(
  db: Database,
  state: WriterState,
  after: Revision,
  findings: Findings,
): Revision | undefined {
  let rows = 0;
  let bytes = 0;
  for (const row of db.sql(rowsSql).iterate(after)) {
    const entry = entryOf(row);
    const problem = rowProblem(entry, row, state);
    if (problem !== undefined) {
      findings.problems.push(`${entry.key} at revision ${entry.revision}: ${problem}`);
    }
    findings.rows++;
    bytes += blob(row['value']).byteLength;
    if (++rows === step.rows || bytes >= step.bytes || isEnough(findings)) return entry.revision;
  }
  return undefined;
}

function rowProblem(entry: LogEntry, row: Row, state: WriterState): string | undefined {
  if (rowChecksum(entry, blob(row['value'])) !== integer(row['checksum'])) return 'not what was written';
  if (row['bucket_name'] !== bucketOf(entry.key)) return 'in a wrong bucket';
  if (entry.revision > state.issued) return 'newer than the store itself';
  const head = row['head_revision'];
  return typeof head === 'number' && head >= entry.revision ? undefined : 'no key leads to it';
}

function* checkHeads(db: Database, findings: Findings): Generator<undefined, void> {
  for (let after: string | undefined = ''; after !== undefined && !isEnough(findings); ) {
    after = headStep(db, after, findings);
    yield;
  }
}

function headStep(db: Database, after: string, findings: Findings): string | undefined {
  let keys = 0;
  for (const head of db.heads('', after)) {
    if (head.createRevision !== 0) findings.objects++;
    const problem = problemOf(db, head);
    if (problem !== undefined) findings.problems.push(`${head.key}: ${problem}`);
    if (++keys === step.rows || isEnough(findings)) return head.key;
  }
  return undefined;
}

const headRowSql = `
SELECT key, create_revision, length(value) AS bytes,
  (SELECT max(revision) FROM log AS newer INDEXED BY log_by_bucket
    WHERE newer.bucket = log.bucket AND newer.revision = log.revision) AS indexed
FROM log WHERE revision = ?`;

function problemOf(db: Database, head: Head): string | undefined {
  const row = db.sql(headRowSql).get(head.revision);
  if (row === undefined) return `its row at revision ${head.revision} is missing`;
  if (text(row['key']) !== head.key) return `its row at revision ${head.revision} is of another key`;
  if (integer(row['create_revision']) !== head.createRevision) return 'it and its row differ';
  if (rowBytes(head.key, null) + integer(row['bytes']) !== head.bytes) return 'its size is wrong';
  return row['indexed'] === head.revision ? undefined : 'its row is missing in the index';
}

/** A difference between these counts is damage of the index. */
const sumsSql = `
SELECT (SELECT count(*) FROM log) AS rows, (SELECT count(*) FROM log INDEXED BY log_by_bucket) AS indexed`;

// biome-ignore lint/correctness/useYield: a step of its own, which cannot be divided
function* checkStructure(db: Database, findings: Findings): Generator<undefined, void> {
  findings.problems.push(...db.pages.problems(maxProblems));
  const sums = db.sql(sumsSql).get();
  if (sums?.['rows'] !== sums?.['indexed'])
    findings.problems.push('the index by bucket has other rows than the log');
}

/** Whether further problems would not be reported any more. */
function isEnough({ problems }: Findings): boolean {
  return problems.length >= maxProblems;
}
