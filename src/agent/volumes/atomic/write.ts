import { randomInt } from 'node:crypto';
import { errorCode, forEachConcurrently } from '../../../base/index.ts';
import { removeEntry } from '../empty-folder.ts';
import type { FileAccess, Folder } from '../folder.ts';
import type { FileContent, Payload, Tree } from './payload.ts';
import { toTree } from './payload.ts';

/*
 * How the files of a volume change all at once, as in the reference:
 *
 *   app.conf → ..data/app.conf                  what the containers see; one link for each first part of a path
 *   ..data → ..2026_01_02_15_04_05.123456789    replaced in one step
 *   ..2026_01_02_15_04_05.123456789/app.conf    the files, never changed once `..data` leads there
 *
 * A writer that is killed leaves at most a folder that nothing leads to, links that are missing or lead to nothing, and
 * `..data_tmp`: the next call repairs and removes them.
 */

const current = '..data';
const next = '..data_tmp';
const made = /^\.\.(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)\.\d+$/;
const folderMode = 0o755;
/** Of a volume with an fsGroup, which may read: its folders and files get these bits. */
const groupFolderBits = 0o2550;
const groupFileBits = 0o440;
/** How many files are worked on at a time. */
const maxAtOnce = 4;
/** Far more than the entries that the files of a pod's objects can make. */
const maxNames = 1_000_000;

export interface Written {
  /** Whether it showed something else before. */
  readonly isChanged: boolean;
  /** When the files that are name were made; milliseconds of the wall clock. */
  readonly sinceMs: number;
}

export interface WriteOptions {
  /** Milliseconds of the wall clock. */
  readonly nowMs: number;
  /** Of the volumes of the pod. */
  readonly group: number | undefined;
}

/**
 * Makes the folder show exactly these files. Where bytes, modes and owners are as they should be nothing is written, but what is
 * missing of the links. Rejects with an Error for users; the files are then as before, or already the new ones.
 */
export async function writeFiles(folder: Folder, payload: Payload, options: WriteOptions): Promise<Written> {
  const tree = toTree(payload);
  const there = new Set(await folder.names(maxNames)); // in a new folder nothing is asked for by its name
  const before = there.has(current) ? await findCurrent(folder) : undefined;
  const isChanged = before === undefined || !(await isEqual(folder, before, tree, options));
  const name = isChanged ? await show(folder, there, tree, options) : before;
  await tidyUp(folder, there, tree, name).catch((error: unknown) => {
    throw failure('its links cannot be set right', error);
  });
  return { isChanged, sinceMs: timeOf(name) ?? options.nowMs };
}

/** The name of the folder with the files. One that `..data` does not name in the way of this writer is none. */
async function findCurrent(folder: Folder): Promise<string | undefined> {
  const name = await folder.readLink(current);
  return name !== undefined && made.test(name) ? name : undefined;
}

async function isEqual(
  folder: Folder,
  name: string,
  { files, folders }: Tree,
  { group }: WriteOptions,
): Promise<boolean> {
  await using inner = await openFolder(folder, name);
  if (inner === undefined || !(await inner.isFor(folderAccess(group)))) return false;
  const count = files.size + folders.size;
  if ((await inner.names(count + 1)).length !== count) return false;
  for (const [file, content] of files)
    if (!(await inner.hasFile(file, content.bytes, accessOf(content, group)))) return false;
  for (const [each, tree] of folders)
    if (!(await isEqual(inner, each, tree, { group, nowMs: 0 }))) return false;
  return true;
}

/** Undefined where there is none, whatever else there is. */
async function openFolder(folder: Folder, name: string): Promise<Folder | undefined> {
  try {
    return await folder.open(name);
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP') return undefined;
    throw error;
  }
}

/** Writes the files where nobody sees them, then has `..data` lead there. Returns the name of their folder. */
async function show(
  folder: Folder,
  there: ReadonlySet<string>,
  tree: Tree,
  { nowMs, group }: WriteOptions,
): Promise<string> {
  const name = nameFor(nowMs);
  try {
    await write(folder, name, tree, group);
    if (there.has(next)) await removeEntry(folder, next);
    await folder.makeLink(next, name);
    if (there.has(current) && (await folder.readLink(current)) === undefined)
      await removeEntry(folder, current);
    await folder.moveTo(next, folder, current);
    return name;
  } catch (error) {
    await removeEntry(folder, name).catch(() => undefined); // the next call tries again
    throw failure('its files cannot be written, and stay as they were', error);
  }
}

function failure(what: string, error: unknown): Error {
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`${what}: no space is left for them on the disk or in the memory of the node (${code})`);
  return new Error(what, { cause: error });
}

async function write(
  folder: Folder,
  name: string,
  { files, folders }: Tree,
  group: number | undefined,
): Promise<void> {
  await using inner = await folder.make(name, folderMode);
  await forEachConcurrently(files, maxAtOnce, async ([file, content]) =>
    inner.writeFile(file, content.bytes, accessOf(content, group)),
  );
  for (const [each, tree] of folders) await write(inner, each, tree, group);
  if (group !== undefined) await inner.setAccess(folderAccess(group).mode, group);
}

const accessOf = ({ mode, uid }: FileContent, group: number | undefined): FileAccess => ({
  mode: group === undefined ? mode : mode | groupFileBits,
  uid,
  group,
});

const folderAccess = (group: number | undefined): FileAccess => ({
  mode: group === undefined ? folderMode : folderMode | groupFolderBits,
  group,
});

/** Makes the links that containers see, and removes those of files that are not there any more, and what is left of earlier writes. */
async function tidyUp(
  folder: Folder,
  there: ReadonlySet<string>,
  { files, folders }: Tree,
  inUse: string,
): Promise<void> {
  const wanted = new Set([...files.keys(), ...folders.keys()]);
  await forEachConcurrently(wanted, maxAtOnce, async (name) => {
    if (there.has(name)) {
      if ((await folder.readLink(name)) === linkTo(name)) return;
      await removeEntry(folder, name);
    }
    await folder.makeLink(name, linkTo(name));
  });
  for (const name of there) {
    if (wanted.has(name) || name === current || name === inUse) continue;
    if (name === next || made.test(name)) await removeEntry(folder, name);
    else if ((await folder.readLink(name)) === linkTo(name)) await folder.unlink(name);
  }
}

const linkTo = (name: string) => `${current}/${name}`;

function nameFor(nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T');
  const text = `${date}-${time.slice(0, 8)}`.replaceAll(/[-:]/g, '_');
  return `..${text}.${randomInt(1_000_000_000, 10_000_000_000)}`;
}

function timeOf(name: string): number | undefined {
  const [, ...parts] = made.exec(name) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  return parts.length === 0 ? undefined : Date.UTC(year, month - 1, day, hour, minute, second);
}
