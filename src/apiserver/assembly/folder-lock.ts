import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExitError, exitCodes } from '../../base/index.ts';

/** `SQLITE_BUSY`: another holds the lock. */
const busy = 5;

/**
 * Holds the root folder of a control plane: a second one would replace keys and kubeconfig of the first, wherever it stores
 * objects. The lock is the kernel's, so it ends with the process, however that ends; SQLite takes it, as Node.js has no call
 * for it. Throws an ExitError when another process holds it. Where the file cannot be made it holds nothing.
 */
export function lockFolder(rootDir: string): Disposable {
  const lock = openLock(join(rootDir, 'control-plane.lock'));
  try {
    lock?.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) return { [Symbol.dispose]: () => undefined };
    throw new ExitError(exitCodes.locked, `${rootDir} is in use by another process; stop that one first`);
  }
  return { [Symbol.dispose]: () => lock?.close() };
}

function openLock(path: string): DatabaseSync | undefined {
  try {
    closeSync(openSync(path, 'a', 0o600)); // SQLite would make it for other users to read
    return new DatabaseSync(path, { timeout: 0, allowExtension: false });
  } catch {
    return undefined;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === busy;
