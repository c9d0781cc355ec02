import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { errorCode, syncFolder } from '../../base/index.ts';

/** Gives both files of a checkpoint their names, or none of them; false when one is taken. The sidecar comes first. */
export async function publishPair(
  folder: string,
  files: { readonly archive: string; readonly sidecar: string },
  archive: string,
  sidecar: string,
): Promise<boolean> {
  if (!(await nameIt(files.sidecar, sidecar))) return false;
  try {
    if (!(await nameIt(files.archive, archive))) {
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

/** A link, unlike a rename, never replaces a file. Answers false when the name is taken. */
async function nameIt(file: string, path: string): Promise<boolean> {
  try {
    await link(file, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw error;
    if ((await lstat(path).catch(unlessAbsent)) !== undefined) return false;
    // A file system without links. Nobody else writes in this folder, and this process gives each name once.
    await rename(file, path);
    return true;
  }
}

/** undefined where there is no regular file of that name. */
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

/** For what need not be there. */
export function unlessAbsent(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
