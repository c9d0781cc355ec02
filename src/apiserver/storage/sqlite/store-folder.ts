import { chmod, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, errorCode, syncFolder } from '../../../base/index.ts';
import { StorageError } from '../types.ts';

/** The database's name in its folder. */
export const databaseName = 'store.sqlite';

/**
 * Creates the folder (0700) and an empty database file (0600) where they are missing, and removes the permissions of
 * other users. Returns the file's path. An existing file is never opened here: closing it would drop the locks that this
 * process holds on it.
 */
export async function prepareFolder(folder: string): Promise<string> {
  const file = join(folder, databaseName);
  try {
    await makeFolder(folder);
    await createFile(file);
    await makePrivate(file, 0o600);
    return file;
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const message = `cannot use the store ${file}: ${describeError(error)}`;
    throw new StorageError('unusable', message, { cause: error });
  }
}

/** Creates a folder for its owner only. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await makePrivate(folder, 0o700);
}

/** Returns the file of a store that must exist. Throws a StorageError when it does not. */
export async function findStore(folder: string): Promise<string> {
  const file = join(folder, databaseName);
  try {
    if ((await stat(file)).isFile()) return file;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      throw new StorageError('unusable', `there is no store in ${folder}: ${databaseName} is missing`);
    }
    throw new StorageError('unusable', `cannot use the store ${file}: ${describeError(error)}`, {
      cause: error,
    });
  }
  throw new StorageError('unusable', `cannot use the store ${file}: it is not a regular file`);
}

async function createFile(file: string): Promise<void> {
  try {
    await using created = await open(file, 'wx', 0o600);
    await created.sync();
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    const facts = await stat(file);
    if (facts.isFile()) return;
    throw new StorageError('unusable', `cannot use the store ${file}: it is not a regular file`);
  }
  await syncFolder(dirname(file));
}

async function makePrivate(path: string, mode: number): Promise<void> {
  const facts = await stat(path);
  if ((facts.mode & 0o077) !== 0) await chmod(path, mode);
}
