import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../index.ts';

/** How many damaged files are kept for the operator to examine. */
const maxDamaged = 3;

/**
 * Renames whatever is at `path` to `PATH.damaged-TIME`, and removes the oldest of such files beyond three. Of a link, the
 * link itself is renamed. Returns the new path.
 */
export async function setAside(path: string, nowMs: number): Promise<string> {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/g, '');
  const kept = await findFreeName(`${path}.damaged-${stamp}`);
  await rename(path, kept);
  await removeOldest(path, kept).catch(() => undefined); // one old file more does no harm
  return kept;
}

async function findFreeName(wanted: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    const isTaken = await lstat(name).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

/** Ordered by their names; never removes `newest`, even when the clock went back. */
async function removeOldest(path: string, newest: string): Promise<void> {
  const folder = dirname(path);
  const older = (await readdir(folder)).filter(
    (name) => name.startsWith(`${basename(path)}.damaged-`) && name !== basename(newest),
  );
  const superfluous = older.sort().slice(0, 1 - maxDamaged);
  await Promise.allSettled(superfluous.map((name) => rm(join(folder, name)))); // folders are kept: the agent did not fill them
}

const draftPattern = /\.\d+\.[0-9a-f-]{36}\.tmp$/;

/** Removes the temporary files of writes that were killed midway. Only one process writes the file. */
export async function removeDrafts(path: string): Promise<void> {
  const namePrefix = basename(path).slice(0, 50);
  await removeDraftsIn(dirname(path), (name) => name.replace(draftPattern, '') === `.${namePrefix}`);
}

/** The same for all state files of a folder in which only one process writes, and has not begun to. */
export async function removeDraftsIn(folder: string, isOurs = (_name: string) => true): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const drafts = names.filter((name) => name.startsWith('.') && draftPattern.test(name) && isOurs(name));
  await Promise.allSettled(drafts.map((name) => rm(join(folder, name))));
}
