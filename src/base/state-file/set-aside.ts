import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../index.ts';

/** Of what was set aside, how many are kept for somebody to look at. */
const keptDamaged = 3;

/**
 * Renames what is at `path`, whatever it is, to `PATH.damaged-TIME`, and removes the oldest of such files beyond three.
 * A link is moved, not what it leads to. Returns the new path.
 */
export async function setAside(path: string, nowMs: number): Promise<string> {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/g, '');
  const kept = await freeName(`${path}.damaged-${stamp}`);
  await rename(path, kept);
  await removeOldest(path, kept).catch(() => undefined); // an old one more does no harm
  return kept;
}

async function freeName(wanted: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    const isTaken = await lstat(name).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

/** By their names; the newest is never among them, also when the clock went back. */
async function removeOldest(path: string, newest: string): Promise<void> {
  const folder = dirname(path);
  const older = (await readdir(folder)).filter(
    (name) => name.startsWith(`${basename(path)}.damaged-`) && name !== basename(newest),
  );
  const superfluous = older.sort().slice(0, 1 - keptDamaged);
  await Promise.allSettled(superfluous.map((name) => rm(join(folder, name)))); // folders are left: not ours to empty
}

/** Removes the temporary files of writes that were killed in the middle. Only one process writes the file. */
export async function removeDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const shownName = basename(path).slice(0, 50);
  const pattern = /^\d+\.[0-9a-f-]{36}\.tmp$/;
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const drafts = names.filter(
    (name) => name.startsWith(`.${shownName}.`) && pattern.test(name.slice(shownName.length + 2)),
  );
  await Promise.allSettled(drafts.map((name) => rm(join(folder, name))));
}
