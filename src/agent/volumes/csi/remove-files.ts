import { readdir, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import type { CsiPaths } from './paths.ts';

/**
 * Removes what stands for a volume that its driver has unmounted: the empty target, then the file that describes it. Nothing with
 * data in it goes. Rejects with what is in the way.
 */
export async function removeVolumeFiles({ target, data }: CsiPaths): Promise<void> {
  await removeTarget(target);
  const folder = dirname(data);
  for (const name of await readdir(folder).catch(noneIfMissing)) {
    // also what was left by a write that was cut off
    const isOwn =
      name === basename(data) || (name.startsWith(`.${basename(data)}.`) && name.endsWith('.tmp'));
    if (isOwn) await unlink(join(folder, name));
  }
  await removeEmpty(folder);
  // those of one device
  if (basename(folder) === 'data') await removeEmpty(dirname(folder));
  if (basename(dirname(dirname(target))) === 'publish') await removeEmpty(dirname(target));
}

async function removeTarget(target: string): Promise<void> {
  try {
    await rmdir(target);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') return await unlink(target); // what a device was mounted on
    if (code === 'ENOTEMPTY') throw new Error(`there is data in ${target}, which is not removed`);
    throw error;
  }
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY') throw error;
  }
}

function noneIfMissing(error: unknown): string[] {
  if (errorCode(error) === 'ENOENT') return [];
  throw error;
}
