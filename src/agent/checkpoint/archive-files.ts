import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { errorCode, syncFolder } from '../../base/index.ts';

/** Gives both files of a checkpoint their names, the sidecar first, or neither. Returns false when one is taken. */
export async function publishPair(
  folder: string,
  files: { readonly archive: string; readonly sidecar: string },
  archive: string,
  sidecar: string,
): Promise<boolean> {
  if (!(await giveName(files.sidecar, sidecar))) return false;
  try {
    if (!(await giveName(files.archive, archive))) {
      await rm(sidecar, { force: true });
      return false;
    }
    await syncFolder(folder);
    return true;
  } catch (error) {
    await rm(archive, { force: true });
    await rm(sidecar, { force: true });
    throw error;
  }
}

/** Links instead of renaming, because a rename could replace a file. Returns false when the name is taken. */
async function giveName(file: string, path: string): Promise<boolean> {
  try {
    await link(file, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw error;
    if ((await lstat(path).catch(ignoreAbsent)) !== undefined) return false;
    // A file system without links. No other process writes in this folder, and this one gives each name once.
    await rename(file, path);
    return true;
  }
}

/** Undefined where there is no regular file at `path`. */
export async function openRegular(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ELOOP') return undefined;
    throw error;
  });
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

/** For `catch`, where a missing file is no error. */
export function ignoreAbsent(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
