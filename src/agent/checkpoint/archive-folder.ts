/**
 * The folder of checkpoints, whose layout nobody else knows:
 *
 *     checkpoints/                 0700
 *       ID.tar                     0600, the archive; ID is `checkpoint-POD_NAMESPACE-CONTAINER-TIME`
 *       ID.json                    0600, its sidecar, a CheckpointRecord
 *       .inflight-RANDOM/          a checkpoint in the making (draft.ts)
 *       damaged-journal-*.json     kept for people (journal.ts)
 *
 * The sidecar comes first and goes last, so whoever sees an archive finds what is known of it, and a sidecar by itself
 * is half of a pair that a crash has left: nobody is shown it, and `repair` removes it. An archive by itself is from
 * before there were sidecars, or was put there by hand; it is listed and kept.
 *
 * Names from outside are never joined to the path: an id must have the form that this program gives.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import { describeError, errorCode, readRegularFile, syncFolder, writeFileAtomic } from '../../base/index.ts';
import type { CheckpointRecord, RecordChange } from './record.ts';
import { changeRecord, DamagedRecord, parseRecord } from './record.ts';
import { createKeyedTurns } from './turns.ts';

/** A checkpoint in the folder. */
export interface StoredCheckpoint {
  readonly id: string;
  /** Absolute path of the archive. */
  readonly path: string;
  /** Absolute path of the sidecar, whether or not it is there. */
  readonly sidecar: string;
  /** Of the archive, as the file system says. */
  readonly bytes: number;
  /** When the archive was last written, in milliseconds since 1970. */
  readonly modifiedMs: number;
  /** What the sidecar says; undefined when there is none that can be read, and `problem` says why. */
  readonly record: CheckpointRecord | undefined;
  readonly problem?: string;
}

/** The files of one checkpoint before they have their names. */
export interface UnnamedPair {
  /** Complete and durable, on the folder's file system. */
  readonly archive: string;
  /** The same, with the record of that id. */
  readonly sidecar: string;
}

/** Who changes or removes a checkpoint does it here; operations on one id come one after the other. */
export interface ArchiveFolder {
  /** Absolute path. */
  readonly path: string;
  /** All checkpoints, the newest first; one whose sidecar is damaged is among them. Empty where there is no folder. */
  list(): Promise<StoredCheckpoint[]>;
  /** undefined where there is none of that id, and for every text that is no id. */
  read(id: string): Promise<StoredCheckpoint | undefined>;
  /** The archive for reading, of which it is certain that it is a regular file. The caller closes it. */
  open(id: string): Promise<FileHandle | undefined>;
  /** Changes the sidecar as a whole, durably. undefined where there is no such checkpoint, or none with a sidecar. */
  change(id: string, change: RecordChange): Promise<StoredCheckpoint | undefined>;
  /** Removes archive and sidecar; false where there is no such checkpoint. Does not ask about pins. */
  remove(id: string): Promise<boolean>;
  /** Gives both files their names, durably; false, and nothing has changed, when one of the names is taken. */
  publish(id: string, files: UnnamedPair): Promise<boolean>;
  /** Removes half pairs. Answers their ids. */
  repair(): Promise<string[]>;
}

const idPattern = /^checkpoint-[a-z0-9][-a-z0-9.~]*_[-a-z0-9]+-[0-9TZ:.-]+$/;
const archiveEnding = '.tar';
const sidecarEnding = '.json';
const sidecarLimitBytes = 256 * 1024;
/** The longest name of a file that Linux's file systems take, in bytes. */
export const idLimit = 255 - sidecarEnding.length;

/** Whether a text has the form of an id; such a text is no path, and safe in one. */
export function isCheckpointId(text: string): boolean {
  return text.length <= idLimit && idPattern.test(text);
}

export function openArchiveFolder(path: string, log: Logger): ArchiveFolder {
  const turns = createKeyedTurns();
  const publishing = new Set<string>();
  const never = new AbortController().signal;
  const fileOf = (id: string, ending: string) => join(path, `${id}${ending}`);

  async function namesEnding(ending: string): Promise<string[]> {
    const names = await readdir(path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const ids = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
    return ids.filter(isCheckpointId);
  }

  async function read(id: string): Promise<StoredCheckpoint | undefined> {
    if (!isCheckpointId(id)) return undefined;
    const [archive, sidecar] = [fileOf(id, archiveEnding), fileOf(id, sidecarEnding)];
    const facts = await lstat(archive).catch(unlessAbsent);
    if (!facts?.isFile()) return undefined;
    const told = await readSidecar(sidecar, id);
    return { id, path: archive, sidecar, bytes: facts.size, modifiedMs: facts.mtimeMs, ...told };
  }

  return {
    path,
    read,
    async list() {
      const found = await Promise.all((await namesEnding(archiveEnding)).map(read));
      return found.filter((each) => each !== undefined).sort(newestFirst);
    },
    async open(id) {
      if (!isCheckpointId(id)) return undefined;
      return await openRegular(fileOf(id, archiveEnding));
    },
    async change(id, change) {
      using _turn = await turns.take(id, never);
      const stored = await read(id);
      if (stored?.record === undefined) return undefined;
      const text = await readRegularFile(stored.sidecar, { limitBytes: sidecarLimitBytes, noFollow: true });
      await writeFileAtomic(stored.sidecar, changeRecord(text.toString('utf8'), change));
      return await read(id);
    },
    async remove(id) {
      using _turn = await turns.take(id, never);
      if ((await read(id)) === undefined) return false;
      await rm(fileOf(id, archiveEnding));
      await rm(fileOf(id, sidecarEnding), { force: true });
      await syncFolder(path);
      return true;
    },
    async publish(id, files) {
      publishing.add(id);
      try {
        return await publishPair(path, files, fileOf(id, archiveEnding), fileOf(id, sidecarEnding));
      } finally {
        publishing.delete(id);
      }
    },
    async repair() {
      const whole = new Set(await namesEnding(archiveEnding));
      const half = (await namesEnding(sidecarEnding)).filter((id) => !whole.has(id) && !publishing.has(id));
      for (const id of half) {
        await rm(fileOf(id, sidecarEnding), { force: true });
        log.warn({ id }, 'removed what was known of a checkpoint whose archive is not there');
      }
      return half;
    },
  };
}

async function readSidecar(path: string, id: string): Promise<Pick<StoredCheckpoint, 'record' | 'problem'>> {
  try {
    const bytes = await readRegularFile(path, { limitBytes: sidecarLimitBytes, noFollow: true });
    const record = parseRecord(bytes.toString('utf8'));
    if (record.id !== id) throw new DamagedRecord(`it is of ${record.id.slice(0, idLimit)}`);
    return { record };
  } catch (error) {
    const problem =
      errorCode(error) === 'ENOENT' ? 'it has no sidecar' : `its sidecar is damaged: ${describeError(error)}`;
    return { record: undefined, problem };
  }
}

/** The end of an id is its time; a container's name may look like one, so not all of it is compared. */
function newestFirst(a: StoredCheckpoint, b: StoredCheckpoint): number {
  const [timeA, timeB] = [timeOf(a), timeOf(b)];
  if (timeA === timeB) return a.id < b.id ? 1 : -1;
  return timeA < timeB ? 1 : -1;
}

const timeOf = ({ id }: StoredCheckpoint): string => /\d{4}-\d\d-\d\dT[\d:.]+Z$/.exec(id)?.[0] ?? '';

async function publishPair(
  folder: string,
  files: UnnamedPair,
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

async function openRegular(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ELOOP') return undefined;
    throw error;
  });
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

function unlessAbsent(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
