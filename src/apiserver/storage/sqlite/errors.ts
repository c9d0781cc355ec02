import { StorageError } from '../types.ts';

/** SQLite's primary result codes that mean something to us (sqlite.org/rescode.html). */
const primary = {
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

/** What a failure to open means, told to the person who starts the server. */
export function openError(file: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const text = describeSqlite(error);
  switch (resultCode(error)) {
    case primary.busy:
    case primary.locked:
      return new StorageError(
        'locked',
        `the store ${file} is in use by another process; stop that one first`,
      );
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

/** The file is damaged or no store at all. */
export function corrupt(file: string, what: string): StorageError {
  const advice = 'move it away to start with an empty store, or put a snapshot in its place';
  return new StorageError(
    'corrupt',
    `the file ${file} is damaged or is no store of nodeward: ${what}; ${advice}`,
  );
}
