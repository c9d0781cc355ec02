/**
 * How long test files took, in seconds by their path in the repository. The last run's are kept in .cache; a fresh clone
 * has those of its longest files from durations.json beside this module.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type Durations = ReadonlyMap<string, number>;

const kept = (root: string): string => join(root, '.cache/test-durations.json');
const committed = (root: string): string => join(root, 'scripts/testing/durations.json');

/** Files that take less are not worth a line in the committed table. */
const minCommittedSeconds = 5;
/** What a file that is not in the committed table is taken for: most are short, but a long one must not come last. */
const unlistedSeconds = 30;

/**
 * How long a file will take, by the last runs and else by the committed table. A file in neither is new and may take
 * any time; but where nothing has run yet, it may also be too short for the committed table.
 */
export async function readEstimates(root: string): Promise<(file: string) => number> {
  const last = await read(kept(root));
  const long = await read(committed(root));
  const unknown = last.size === 0 && long.size > 0 ? unlistedSeconds : Number.POSITIVE_INFINITY;
  return (file) => last.get(file) ?? long.get(file) ?? unknown;
}

/** Adds to what is known of earlier runs. */
export async function keepDurations(root: string, durations: Durations): Promise<void> {
  if (durations.size === 0) return;
  await write(kept(root), new Map([...(await read(kept(root))), ...durations]));
}

/** Makes what is kept of the last runs the committed table; returns its path. */
export async function commitDurations(root: string): Promise<string> {
  const known = new Map([...(await read(committed(root))), ...(await read(kept(root)))]);
  const long = [...known].filter(([, seconds]) => seconds >= minCommittedSeconds);
  await write(committed(root), new Map(long.map(([file, seconds]) => [file, Math.round(seconds)])));
  return committed(root);
}

/** A table that cannot be read counts as empty: it only orders files. */
async function read(path: string): Promise<Durations> {
  try {
    const table: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof table !== 'object' || table === null) return new Map();
    return new Map(Object.entries(table).filter(([, seconds]) => typeof seconds === 'number'));
  } catch {
    return new Map();
  }
}

/** Put in place whole: another run may read it at the same time. */
async function write(path: string, durations: Durations): Promise<void> {
  const sorted = [...durations].sort(([a], [b]) => (a < b ? -1 : 1));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
  await rename(`${path}.${process.pid}`, path);
}
