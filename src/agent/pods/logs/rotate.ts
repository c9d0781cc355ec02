import { constants } from 'node:fs';
import { link, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorCode } from '../../../base/index.ts';
import type { HeldFolder } from './folder.ts';
import { fileOf, listRotated, nextRotatedName, planTidying } from './rotated.ts';

/*
 * The steps on the files of one log. No line is lost wherever they are cut off: a file is renamed or linked and never written
 * over, and what is compressed is removed only once its compressed form is on the disk. What stays half done, `repairLog` and
 * `tidyLogs` finish.
 */

/** Logs compress well at every level, and the lower ones take a third of the time. */
const gzipLevel = 3;

export interface RotateOptions {
  readonly folder: HeldFolder;
  /** Such as `0.log`. */
  readonly log: string;
  readonly nowMs: number;
  /** Makes the runtime write to a new file by the old name. */
  reopen(): Promise<void>;
}

/** When the runtime cannot reopen it, the log is put back, and this rejects. */
export async function rotateLog({ folder, log, nowMs, reopen }: RotateOptions): Promise<void> {
  const rotated = nextRotatedName(await readdir(folder.path), log, nowMs);
  await rename(folder.at(log), folder.at(rotated));
  try {
    await reopen();
  } catch (error) {
    await putBack(folder, rotated, log);
    throw error;
  }
}

/**
 * Mends what an agent left that ended between renaming and reopening. Returns the names that were in the folder. A log of a
 * container that runs is reopened; that of one that has ended is the newest rotated one.
 */
export async function repairLog(
  folder: HeldFolder,
  log: string,
  reopen: (() => Promise<void>) | undefined,
): Promise<readonly string[]> {
  const names = await readdir(folder.path);
  if (names.includes(log)) return names;
  const newest = listRotated(names, log).at(-1);
  if (reopen !== undefined) await reopen();
  else if (newest !== undefined && !newest.isCompressed) await putBack(folder, newest.name, log);
  return names;
}

/** Not where the runtime has made a new one meanwhile, as after a call that was answered too late. */
async function putBack(folder: HeldFolder, rotated: string, log: string): Promise<void> {
  try {
    await link(folder.at(rotated), folder.at(log));
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    throw error;
  }
  await unlink(folder.at(rotated));
}

/** Removes what is too much, then compresses; returns when nothing is left to do. One at a time for each log. */
export async function tidyLogs(
  folder: HeldFolder,
  log: string,
  maxFiles: () => number,
  signal: AbortSignal,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    const { compress, remove } = planTidying(await readdir(folder.path), log, maxFiles());
    for (const name of remove) await rm(folder.at(name), { force: true });
    const [next] = compress;
    if (next === undefined || next === last) return;
    await compressLog(folder, next, signal);
    last = next;
  }
}

async function compressLog(folder: HeldFolder, name: string, signal: AbortSignal): Promise<void> {
  const temporary = folder.at(`${name}.tmp`);
  {
    await using source = await open(
      folder.at(name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const facts = await source.stat();
    if (!facts.isFile()) throw new Error(`the log ${name} is not a regular file; it is left as it is`);
    await using target = await open(temporary, 'wx', facts.mode & 0o777);
    await pipeline(
      source.createReadStream({ highWaterMark: 256 * 1024 }),
      createGzip({ level: gzipLevel, chunkSize: 64 * 1024 }),
      async (compressed: AsyncIterable<Buffer>) => {
        for await (const chunk of compressed) await target.writeFile(chunk);
      },
      { signal },
    );
    await target.utimes(facts.atime, facts.mtime);
    await target.sync();
  }
  await rename(temporary, folder.at(fileOf({ name, isCompressed: true })));
  await unlink(folder.at(name));
}
