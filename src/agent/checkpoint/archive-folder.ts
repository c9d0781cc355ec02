/**
 * The folder of checkpoints. Only this module knows its layout:
 *
 *     checkpoints/                 0700
 *       ID.tar                     0600, the archive; ID is `checkpoint-POD_NAMESPACE-CONTAINER-TIME`
 *       ID.tar.age                 0600, the same sealed; a checkpoint has one of both
 *       ID.json                    0600, its sidecar, a CheckpointRecord
 *       SET.set.json               0600, the manifest of a set of checkpoints (set-manifest-files.ts)
 *       .inflight-RANDOM/          a checkpoint that is being written (dump/draft.ts)
 *       damaged-journal-*.json     kept for the operator (dump/journal.ts)
 *
 * The sidecar is created first and removed last, so a visible archive always has its sidecar. A sidecar alone is half of
 * a pair that a crash has left: it is never listed, and `repair` removes it. An archive alone is from before there were
 * sidecars, or was put there by hand; it is listed and kept.
 *
 * Names from outside are never joined to the path unchecked: an id must have the form that this program generates.
 */

import type { FileHandle } from 'node:fs/promises';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isCheckpointId, maxCheckpointIdLength } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import {
  describeError,
  errorCode,
  KeyedMutex,
  readRegularFile,
  syncFolder,
  writeFileAtomic,
} from '../../base/index.ts';
import { ignoreAbsent, openRegular, publishPair } from './archive-files.ts';
import { compareNewestFirst } from './checkpoint-id.ts';
import type { CheckpointRecord, RecordChange } from './record.ts';
import { changeRecord, DamagedRecord, parseRecord } from './record.ts';
import type { SetManifest } from './set-manifest.ts';
import type { ManifestFiles } from './set-manifest-files.ts';
import { isSetFile, openManifestFiles } from './set-manifest-files.ts';

/** A checkpoint in the folder. */
export interface StoredCheckpoint {
  readonly id: string;
  /** Absolute path of the archive. */
  readonly path: string;
  /** Absolute path of the sidecar, which may be missing. */
  readonly sidecar: string;
  /** Size of the archive in the file system. */
  readonly bytes: number;
  /** When the archive was last written, in milliseconds since 1970. */
  readonly modifiedMs: number;
  /** The content of the sidecar; undefined when it is missing or damaged, and then `problem` says why. */
  readonly record: CheckpointRecord | undefined;
  readonly problem?: string;
}

/** The files of one checkpoint before they are published under their names. */
export interface UnnamedPair {
  /** Path of the archive: complete and durable, on the folder's file system. */
  readonly archive: string;
  /** Path of the sidecar, likewise, with the record of the id. */
  readonly sidecar: string;
}

/** All changes and removals of checkpoints go through this interface; operations on one id run one after the other. */
export interface ArchiveFolder {
  /** Absolute path. */
  readonly path: string;
  /** All checkpoints, the newest first, including those with a damaged sidecar. Empty where there is no folder. */
  list(): Promise<StoredCheckpoint[]>;
  /** Undefined where there is no checkpoint of that id, and for every text that is no id. */
  read(id: string): Promise<StoredCheckpoint | undefined>;
  /** Opens the archive for reading; it is certain to be a regular file. The caller closes it. */
  open(id: string): Promise<FileHandle | undefined>;
  /** Replaces the sidecar atomically and durably. Undefined where there is no such checkpoint, or it has no sidecar. */
  change(id: string, change: RecordChange): Promise<StoredCheckpoint | undefined>;
  /**
   * Removes archive and sidecar and returns the checkpoint as it was; undefined where there is none. Ignores pins unless
   * `check` looks at them: nothing is removed when it throws.
   */
  remove(id: string, check?: (stored: StoredCheckpoint) => void): Promise<StoredCheckpoint | undefined>;
  /** Gives both files their names, durably. Returns false, without any change, when one of the names is taken. */
  publish(id: string, files: UnnamedPair): Promise<boolean>;
  /**
   * The same for all members of a set and its manifest: no member is visible before all are. The keys of `pairs` are the
   * members' ids.
   */
  publishSet(manifest: SetManifest, pairs: ReadonlyMap<string, UnnamedPair>): Promise<boolean>;
  /** The sets whose members are all there, the newest first. */
  listSets(): Promise<SetManifest[]>;
  /**
   * Removes half pairs, sets that were being published when the process ended, and manifests without a member. Returns
   * the ids of the half pairs.
   */
  repair(): Promise<string[]>;
  /** The names of files in the folder that are not this program's. */
  listForeignFiles(): Promise<string[]>;
}

const plainEnding = '.tar';
/** In order of preference: this program never leaves a plain archive beside a sealed one. */
const archiveEndings = ['.tar.age', plainEnding] as const;
const sidecarEnding = '.json';
const maxSidecarBytes = 256 * 1024;

export function openArchiveFolder(path: string, log: Logger): ArchiveFolder {
  return new FileArchiveFolder(path, log);
}

/** The public methods are arrow fields, because callers spread a folder to replace one of its methods. */
class FileArchiveFolder implements ArchiveFolder {
  readonly path: string;
  readonly #log: Logger;
  readonly #manifests: ManifestFiles;
  readonly #mutex = new KeyedMutex();
  /** The ids that `publish` is working on: `repair` keeps their sidecars, whose archives may not be there yet. */
  readonly #publishing = new Set<string>();

  constructor(path: string, log: Logger) {
    this.path = path;
    this.#log = log;
    this.#manifests = openManifestFiles(path, log);
  }

  readonly list = async (): Promise<StoredCheckpoint[]> => {
    const found = await Promise.all((await this.#listArchiveIds()).map(this.read));
    return found.filter((each) => each !== undefined).sort(compareNewestFirst);
  };

  readonly read = async (id: string): Promise<StoredCheckpoint | undefined> => {
    if (!isCheckpointId(id) || this.#manifests.isHidden(id)) return undefined;
    const sidecar = this.#pathOf(id, sidecarEnding);
    for (const ending of archiveEndings) {
      const archive = this.#pathOf(id, ending);
      const facts = await lstat(archive).catch(ignoreAbsent);
      if (!facts?.isFile()) continue;
      const sidecarFacts = await readSidecar(sidecar, id);
      return { id, path: archive, sidecar, bytes: facts.size, modifiedMs: facts.mtimeMs, ...sidecarFacts };
    }
    return undefined;
  };

  readonly open = async (id: string): Promise<FileHandle | undefined> => {
    const stored = await this.read(id);
    return stored && (await openRegular(stored.path));
  };

  readonly change = async (id: string, change: RecordChange): Promise<StoredCheckpoint | undefined> => {
    using _lock = await this.#mutex.acquire(id);
    const stored = await this.read(id);
    if (stored?.record === undefined) return undefined;
    const text = await readRegularFile(stored.sidecar, { limitBytes: maxSidecarBytes, noFollow: true });
    await writeFileAtomic(stored.sidecar, changeRecord(text.toString('utf8'), change));
    return await this.read(id);
  };

  readonly remove = async (
    id: string,
    check?: (stored: StoredCheckpoint) => void,
  ): Promise<StoredCheckpoint | undefined> => {
    using _lock = await this.#mutex.acquire(id);
    const stored = await this.read(id);
    if (stored === undefined) return undefined;
    check?.(stored);
    await this.#removeFiles(id);
    await syncFolder(this.path);
    if (stored.record?.set !== undefined)
      await this.#manifests.removeIfEmpty(stored.record.set, await this.#listArchiveIds());
    return stored;
  };

  readonly publish = async (id: string, files: UnnamedPair): Promise<boolean> => {
    this.#publishing.add(id);
    try {
      return await this.#publishOne(id, files);
    } finally {
      this.#publishing.delete(id);
    }
  };

  readonly publishSet = async (
    manifest: SetManifest,
    pairs: ReadonlyMap<string, UnnamedPair>,
  ): Promise<boolean> => {
    if (!(await this.#manifests.begin(manifest))) return false;
    const named: string[] = [];
    let done = false;
    try {
      for (const [id, files] of pairs) {
        if (!(await this.#publishOne(id, files))) return false;
        named.push(id);
      }
      await this.#manifests.commit(manifest.id);
      done = true;
      return true;
    } finally {
      if (!done) {
        for (const id of named) await this.#removeFiles(id);
        await this.#manifests.abort(manifest.id);
      }
    }
  };

  readonly listSets = async (): Promise<SetManifest[]> => {
    const there = new Set(await this.#listArchiveIds());
    const sets = await this.#manifests.list();
    return sets.filter(({ members }) => members.every(({ id }) => there.has(id)));
  };

  readonly repair = async (): Promise<string[]> => {
    await this.#manifests.repair((manifest) => this.#removeHalfSet(manifest));
    const whole = new Set(await this.#listArchiveIds());
    const half = (await this.#listIds(sidecarEnding)).filter(
      (id) => !whole.has(id) && !this.#publishing.has(id) && !this.#manifests.isHidden(id),
    );
    for (const id of half) {
      await rm(this.#pathOf(id, sidecarEnding), { force: true });
      this.#log.warn({ id }, 'removed what was known of a checkpoint whose archive is not there');
    }
    for (const { id } of await this.#manifests.list()) await this.#manifests.removeIfEmpty(id, [...whole]);
    return half;
  };

  readonly listForeignFiles = async (): Promise<string[]> => {
    return (await listNames(this.path)).filter((name) => !isOwn(name)).sort();
  };

  #pathOf(id: string, ending: string): string {
    return join(this.path, `${id}${ending}`);
  }

  async #listIds(ending: string): Promise<string[]> {
    const names = await listNames(this.path);
    const ids = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
    return ids.filter(isCheckpointId);
  }

  async #listArchiveIds(): Promise<string[]> {
    const ids = await Promise.all(archiveEndings.map((ending) => this.#listIds(ending)));
    return [...new Set(ids.flat())];
  }

  #publishOne(id: string, files: UnnamedPair): Promise<boolean> {
    const archive = this.#pathOf(id, findEnding(files.archive));
    return publishPair(this.path, files, archive, this.#pathOf(id, sidecarEnding));
  }

  async #removeFiles(id: string): Promise<void> {
    for (const ending of [...archiveEndings, sidecarEnding])
      await rm(this.#pathOf(id, ending), { force: true });
  }

  /** Removes the members that a process had published of a set before it ended without committing the manifest. */
  async #removeHalfSet({ id: set, members }: SetManifest): Promise<void> {
    for (const { id } of members.filter((member) => isCheckpointId(member.id))) {
      const { record } = await readSidecar(this.#pathOf(id, sidecarEnding), id);
      if (record?.set === set) await this.#removeFiles(id);
    }
    this.#log.warn({ set }, 'removed what was there of a set of checkpoints that had not become complete');
  }
}

const findEnding = (archive: string) =>
  archiveEndings.find((ending) => archive.endsWith(ending)) ?? plainEnding;

async function listNames(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/** Names that start with a dot are this program's, too: drafts, state files, and files that are being written. */
function isOwn(name: string): boolean {
  if (name.startsWith('.') || name.startsWith('damaged-journal-')) return true;
  if (isSetFile(name)) return true;
  return [...archiveEndings, sidecarEnding].some(
    (ending) => name.endsWith(ending) && isCheckpointId(name.slice(0, -ending.length)),
  );
}

/** The record in the sidecar of that id, even if there is no archive; undefined when it is missing or damaged. */
export async function readArchiveRecord(folder: string, id: string): Promise<CheckpointRecord | undefined> {
  if (!isCheckpointId(id)) return undefined;
  return (await readSidecar(join(folder, `${id}${sidecarEnding}`), id)).record;
}

async function readSidecar(path: string, id: string): Promise<Pick<StoredCheckpoint, 'record' | 'problem'>> {
  try {
    const bytes = await readRegularFile(path, { limitBytes: maxSidecarBytes, noFollow: true });
    const record = parseRecord(bytes.toString('utf8'));
    if (record.id !== id) throw new DamagedRecord(`it is of ${record.id.slice(0, maxCheckpointIdLength)}`);
    return { record };
  } catch (error) {
    const problem =
      errorCode(error) === 'ENOENT' ? 'it has no sidecar' : `its sidecar is damaged: ${describeError(error)}`;
    return { record: undefined, problem };
  }
}
