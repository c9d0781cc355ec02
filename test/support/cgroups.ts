import { readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { mountPoints } from './mounts.ts';
import { sendSignal } from './process-table.ts';
import { waitFor } from './wait-for.ts';

/** The cgroup of what a test runs with this folder as its own; scripts/lab/systemd-boot names it so, too. */
export function cgroupName(folder: string): string {
  return `nodeward-lab-${basename(folder)}`;
}

/** The folder of that cgroup in every hierarchy where it exists: one with v2, several with v1. */
export async function cgroupFolders(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const { path, type } of await mountPoints()) {
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    const folder = join(path, name);
    if ((await readdir(folder).catch(() => undefined)) !== undefined) found.push(folder);
  }
  return found;
}

/**
 * Ends every process in the cgroup, in all hierarchies, and removes it. Frozen ones are thawed, or a SIGKILL
 * would wait for ever with cgroup v1. Returns whether there was such a cgroup.
 */
export async function removeCgroup(name: string): Promise<boolean> {
  const trees = await Promise.all((await cgroupFolders(name)).map(foldersWithin));
  const all = trees.flat();
  for (const folder of all) {
    await writeFile(join(folder, 'freezer.state'), 'THAWED').catch(() => undefined);
    await writeFile(join(folder, 'cgroup.freeze'), '0').catch(() => undefined);
  }
  for (const folder of all) {
    const remove = async (): Promise<boolean> => {
      const pids = await readFile(join(folder, 'cgroup.procs'), 'utf8');
      for (const pid of pids.split('\n').filter((line) => line !== '')) sendSignal(Number(pid), 'SIGKILL');
      await rmdir(folder);
      return true;
    };
    await waitFor(`cgroup ${folder} to be empty`, remove, { timeoutMs: 5000 });
  }
  return all.length > 0;
}

/** A cgroup's folder and those in it, the innermost first. */
async function foldersWithin(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const inner = await Promise.all(entries.map((entry) => foldersWithin(join(folder, entry.name))));
  return [...inner.flat(), folder];
}
