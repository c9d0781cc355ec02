import type { Revision } from '../../types.ts';
import { StorageError } from '../../types.ts';

/** SQLite's primary result codes that mean something to us (sqlite.org/rescode.html). */
const primary = {
  /** A statement does not fit the tables: ours always do, so the tables are not ours. */
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notDatabase: 26,
};

/** The primary result code of an error thrown by node:sqlite; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** No room: the statement had no effect, and the transaction can be rolled back cleanly. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === primary.full;
}

/** An error after which the connection is not trusted any more. */
export function isBroken(error: unknown): boolean {
  const code = resultCode(error);
  return code === primary.io || code === primary.cannotOpen || code === primary.readOnly;
}

/** SQLite's words with its extended code, since "disk I/O error" alone does not say what failed. */
export function describeSqlite(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'errcode' in error ? `${error.message} (SQLite ${String(error.errcode)})` : error.message;
}

/** The error of a failed opening, with a message for the operator who starts the server. */
export function openError(file: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const text = describeSqlite(error);
  if (isMistyped(error)) return corrupt(file, text);
  switch (resultCode(error)) {
    case primary.busy:
    case primary.locked:
      return new StorageError(
        'locked',
        `the store ${file} is in use by another process; stop that one first`,
      );
    case primary.error:
    case primary.corrupt:
    case primary.notDatabase:
      return corrupt(file, text);
    case primary.full:
      return new StorageError('unusable', `cannot open the store ${file}: no room on its disk (${text})`);
    case primary.perm:
    case primary.readOnly:
    case primary.cannotOpen:
      return new StorageError('unusable', `cannot open the store ${file}: it cannot be written (${text})`);
    default:
      return new StorageError('unusable', `cannot open the store ${file}: ${text}`);
  }
}

/** Whether the file's content differs from what was written. */
export function isDamage(error: unknown): boolean {
  if (error instanceof StorageError) return error.code === 'corrupt';
  const code = resultCode(error);
  return code === primary.corrupt || code === primary.error || isMistyped(error);
}

/** Thrown when a column holds another type, or a number that cannot be a revision. */
function isMistyped(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

/** A row is not what was written there. */
export function damagedRow(file: string, key: string, revision: Revision): StorageError {
  const advice = 'see what else is with: nodeward storage check; then restore a snapshot';
  const message = `the store ${file} is damaged: ${key} at revision ${revision} is not what was written; ${advice}`;
  return new StorageError('corrupt', message);
}

/** The file is damaged or no store at all. */
export function corrupt(file: string, what: string): StorageError {
  const advice = 'restore a snapshot with: nodeward storage restore --force FILE';
  return new StorageError(
    'corrupt',
    `the file ${file} is damaged or is no store of nodeward: ${what}; ${advice}`,
  );
}
