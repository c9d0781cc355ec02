/**
 * The folder of checkpoints, whose layout nobody else knows:
 *
 *     checkpoints/                 0700
 *       ID.tar                     0600, the archive; ID is `checkpoint-POD_NAMESPACE-CONTAINER-TIME`
 *       ID.tar.age                 0600, the same sealed; there is one of both
 *       ID.json                    0600, its sidecar, a CheckpointRecord
 *       SET.set.json               0600, the manifest of a set of checkpoints (pod-set/manifest-files.ts)
 *       .inflight-RANDOM/          a checkpoint in the making (draft.ts)
 *       damaged-journal-*.json     kept for people (journal.ts)
 *
 * The sidecar comes first and goes last, so whoever sees an archive finds what is known of it, and a sidecar by itself
 * is half of a pair that a crash has left: nobody is shown it, and `repair` removes it. An archive by itself is from
 * before there were sidecars, or was put there by hand; it is listed and kept.
 *
 * Names from outside are never joined to the path: an id must have the form that this program gives.
 */
import type { FileHandle } from 'node:fs/promises';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import {
  describeError,
  errorCode,
  KeyedMutex,
  readRegularFile,
  syncFolder,
  writeFileAtomic,
} from '../../base/index.ts';
import { openRegular, publishPair, unlessAbsent } from './named-files.ts';
import type { CheckpointRecord, RecordChange } from './record.ts';
import { changeRecord, DamagedRecord, parseRecord } from './record.ts';
import type { SetManifest } from './set-manifest.ts';
import { isSetFile, openManifestFiles } from './set-manifest-files.ts';

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
  /**
   * Removes archive and sidecar and answers what they were; undefined where there is no such checkpoint. Does not ask
   * about pins: `check` may, and nothing is removed when it throws.
   */
  remove(id: string, check?: (stored: StoredCheckpoint) => void): Promise<StoredCheckpoint | undefined>;
  /** Gives both files their names, durably; false, and nothing has changed, when one of the names is taken. */
  publish(id: string, files: UnnamedPair): Promise<boolean>;
  /**
   * The same for all members of a set, and for its manifest: nobody is shown one of them before all are there. `pairs`
   * has the members' ids.
   */
  publishSet(manifest: SetManifest, pairs: ReadonlyMap<string, UnnamedPair>): Promise<boolean>;
  /** The sets of which all members are there, the newest first. */
  sets(): Promise<SetManifest[]>;
  /**
   * Removes half pairs, sets that were being published when the process ended, and manifests without a member. Answers
   * the ids of half pairs.
   */
  repair(): Promise<string[]>;
  /** Names of what is in the folder and is nothing of this program's. */
  strangers(): Promise<string[]>;
}

const idPattern = /^checkpoint-[a-z0-9][-a-z0-9.~]*_[-a-z0-9]+-[0-9TZ:.-]+$/;
const plainEnding = '.tar';
/** In the order in which they are looked for: a plain one beside a sealed one was put there by somebody. */
const archiveEndings = ['.tar.age', plainEnding] as const;
const sidecarEnding = '.json';
const sidecarLimitBytes = 256 * 1024;
/** The longest name of a file that Linux's file systems take, in bytes. */
const nameLimit = 255;
/** How long a new id may be: the file with the longest name is `.ID.set.json`. */
export const idLimit = nameLimit - '..set.json'.length;

/** Whether a text has the form of an id; such a text is no path, and safe in one. */
export function isCheckpointId(text: string): boolean {
  return text.length <= nameLimit - sidecarEnding.length && idPattern.test(text);
}

export function openArchiveFolder(path: string, log: Logger): ArchiveFolder {
  const mutex = new KeyedMutex();
  const publishing = new Set<string>();
  const manifests = openManifestFiles(path, log);
  const fileOf = (id: string, ending: string) => join(path, `${id}${ending}`);

  async function namesEnding(ending: string): Promise<string[]> {
    const names = await namesIn(path);
    const ids = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
    return ids.filter(isCheckpointId);
  }

  async function archiveIds(): Promise<string[]> {
    const ids = await Promise.all(archiveEndings.map(namesEnding));
    return [...new Set(ids.flat())];
  }

  async function read(id: string): Promise<StoredCheckpoint | undefined> {
    if (!isCheckpointId(id) || manifests.isHidden(id)) return undefined;
    const sidecar = fileOf(id, sidecarEnding);
    for (const ending of archiveEndings) {
      const archive = fileOf(id, ending);
      const facts = await lstat(archive).catch(unlessAbsent);
      if (!facts?.isFile()) continue;
      const told = await readSidecar(sidecar, id);
      return { id, path: archive, sidecar, bytes: facts.size, modifiedMs: facts.mtimeMs, ...told };
    }
    return undefined;
  }

  const publishOne = (id: string, files: UnnamedPair): Promise<boolean> =>
    publishPair(path, files, fileOf(id, endingOf(files.archive)), fileOf(id, sidecarEnding));

  async function removeFiles(id: string): Promise<void> {
    for (const ending of [...archiveEndings, sidecarEnding]) await rm(fileOf(id, ending), { force: true });
  }

  /** What a process has published of a set whose manifest it did not come to. */
  async function removeHalfSet({ id: set, members }: SetManifest): Promise<void> {
    for (const { id } of members.filter((member) => isCheckpointId(member.id))) {
      const { record } = await readSidecar(fileOf(id, sidecarEnding), id);
      if (record?.set === set) await removeFiles(id);
    }
    log.warn({ set }, 'removed what was there of a set of checkpoints that had not become complete');
  }

  return {
    path,
    read,
    async list() {
      const found = await Promise.all((await archiveIds()).map(read));
      return found.filter((each) => each !== undefined).sort(newestFirst);
    },
    async open(id) {
      const stored = await read(id);
      return stored && (await openRegular(stored.path));
    },
    async change(id, change) {
      using _lock = await mutex.acquire(id);
      const stored = await read(id);
      if (stored?.record === undefined) return undefined;
      const text = await readRegularFile(stored.sidecar, { limitBytes: sidecarLimitBytes, noFollow: true });
      await writeFileAtomic(stored.sidecar, changeRecord(text.toString('utf8'), change));
      return await read(id);
    },
    async remove(id, check) {
      using _lock = await mutex.acquire(id);
      const stored = await read(id);
      if (stored === undefined) return undefined;
      check?.(stored);
      await removeFiles(id);
      await syncFolder(path);
      if (stored.record?.set !== undefined)
        await manifests.removeIfEmpty(stored.record.set, await archiveIds());
      return stored;
    },
    async publish(id, files) {
      publishing.add(id);
      try {
        return await publishOne(id, files);
      } finally {
        publishing.delete(id);
      }
    },
    async publishSet(manifest, pairs) {
      if (!(await manifests.begin(manifest))) return false;
      const named: string[] = [];
      let done = false;
      try {
        for (const [id, files] of pairs) {
          if (!(await publishOne(id, files))) return false;
          named.push(id);
        }
        await manifests.commit(manifest.id);
        done = true;
        return true;
      } finally {
        if (!done) {
          for (const id of named) await removeFiles(id);
          await manifests.abort(manifest.id);
        }
      }
    },
    async sets() {
      const there = new Set(await archiveIds());
      const sets = await manifests.list();
      return sets.filter(({ members }) => members.every(({ id }) => there.has(id)));
    },
    async strangers() {
      return (await namesIn(path)).filter((name) => !isOwn(name)).sort();
    },
    async repair() {
      await manifests.repair(removeHalfSet);
      const whole = new Set(await archiveIds());
      const half = (await namesEnding(sidecarEnding)).filter(
        (id) => !whole.has(id) && !publishing.has(id) && !manifests.isHidden(id),
      );
      for (const id of half) {
        await rm(fileOf(id, sidecarEnding), { force: true });
        log.warn({ id }, 'removed what was known of a checkpoint whose archive is not there');
      }
      for (const { id } of await manifests.list()) await manifests.removeIfEmpty(id, [...whole]);
      return half;
    },
  };
}

const endingOf = (archive: string) =>
  archiveEndings.find((ending) => archive.endsWith(ending)) ?? plainEnding;

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/** Whatever begins with a dot is this program's, too: drafts, notes, and files that are being written. */
function isOwn(name: string): boolean {
  if (name.startsWith('.') || name.startsWith('damaged-journal-')) return true;
  if (isSetFile(name)) return true;
  return [...archiveEndings, sidecarEnding].some(
    (ending) => name.endsWith(ending) && isCheckpointId(name.slice(0, -ending.length)),
  );
}

/** What the sidecar of that id in a folder says, whether or not an archive is beside it; undefined when it says nothing. */
export async function readArchiveRecord(folder: string, id: string): Promise<CheckpointRecord | undefined> {
  if (!isCheckpointId(id)) return undefined;
  return (await readSidecar(join(folder, `${id}${sidecarEnding}`), id)).record;
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
export function newestFirst(a: Pick<StoredCheckpoint, 'id'>, b: Pick<StoredCheckpoint, 'id'>): number {
  if (a.id === b.id) return 0;
  const [timeA, timeB] = [timeOfId(a.id), timeOfId(b.id)];
  if (timeA === timeB) return a.id < b.id ? 1 : -1;
  return timeA < timeB ? 1 : -1;
}

/** When its making began, RFC 3339 with nanoseconds; empty in what is no id. */
export const timeOfId = (id: string): string => /\d{4}-\d\d-\d\dT[\d:.]+Z$/.exec(id)?.[0] ?? '';
