/**
 * Mark files beside a store in a folder, for a server that is started there later: its objects were moved elsewhere, or a
 * migration into it has not ended.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode, syncFolder, tryParseRecord } from '../../../../base/index.ts';
import { StorageError } from '../../types.ts';

const names = { moved: 'store.moved', incomplete: 'store.incomplete' } as const;

export type MarkName = keyof typeof names;

/** `place`: where the objects went, or where they come from. */
export interface Mark {
  readonly place: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The file of a mark in a folder of a store. */
export function markFile(folder: string, name: MarkName): string {
  return join(folder, names[name]);
}

/** The mark is on disk when this resolves. */
export async function writeMark(folder: string, name: MarkName, mark: Mark): Promise<void> {
  const file = markFile(folder, name);
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true });
  {
    await using opened = await open(temporary, 'wx', 0o600);
    await opened.writeFile(`${JSON.stringify(mark)}\n`);
    await opened.sync();
  }
  await rename(temporary, file);
  await syncFolder(folder);
}

/** Undefined: there is none. An unreadable one counts as a mark all the same. */
export async function readMark(folder: string, name: MarkName): Promise<Mark | undefined> {
  let text: string;
  try {
    text = await readFile(markFile(folder, name), 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const message = `cannot use the store in ${folder}: ${describeError(error)}`;
    throw new StorageError('unusable', message, { cause: error });
  }
  return parseMark(text);
}

export async function removeMark(folder: string, name: MarkName): Promise<void> {
  await rm(markFile(folder, name), { force: true });
  await syncFolder(folder);
}

/** Throws a StorageError `moved` when no server may serve from that folder. */
export async function refuseMarked(folder: string): Promise<void> {
  const incomplete = await readMark(folder, 'incomplete');
  if (incomplete !== undefined) {
    throw new StorageError(
      'moved',
      `the store in ${folder} is not complete: a migration from ${incomplete.place} into it, begun at ${incomplete.at}, has not ended; run it again`,
    );
  }
  const moved = await readMark(folder, 'moved');
  if (moved === undefined) return;
  throw new StorageError(
    'moved',
    `the objects of the store in ${folder} were moved to ${moved.place} at ${moved.at}: start the server there; to go on here instead, without what was written since, remove ${markFile(folder, 'moved')}`,
  );
}

function parseMark(text: string): Mark {
  const { place = 'an unknown place', at = 'an unknown time' } = tryParseRecord(text) ?? {};
  return { place: String(place), at: String(at) };
}
