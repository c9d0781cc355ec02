/**
 * A checkpoint that is being written, as a folder of its own inside the folder of checkpoints:
 *
 *     checkpoints/
 *       .inflight-RANDOM/                              0700
 *         journal.json                                 names the container, which may be frozen
 *         archive.tar                                  created by this process, written by the runtime
 *         archive.tar.age                              the same sealed, if that is configured; then archive.tar goes
 *         record.json                                  the sidecar, once the archive is complete
 *
 * The journal is written before the container is paused and removed last, when the container is known to run, so after a
 * crash at any time in between the container can be thawed. The archive has a folder of its own because a runtime may go
 * on writing after its call was cancelled: once the folder is gone it cannot leave a file behind.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { UnnamedPair } from '../archive-folder.ts';
import type { Journal } from './journal.ts';
import { archiveFile, draftPrefix, writeJournal } from './journal.ts';
import { isTarFile } from './tar.ts';

const recordFile = 'record.json';
const sealedFile = `${archiveFile}.age`;

export interface Draft extends AsyncDisposable {
  /** Its folder's name. */
  readonly name: string;
  /** Path of the file that the runtime writes: created by this process, empty, with mode 0600. */
  readonly archive: string;
  /** Path of the sealed archive, if there is to be one. */
  readonly sealedArchive: string;
  /** Rejects when the runtime has not written an archive; sets the mode 0600. */
  verify(): Promise<void>;
  /** Makes the archive durable. */
  sync(): Promise<void>;
  /** Writes the record beside the archive, sealed or plain, durably. Replaces an earlier one. */
  writeRecord(text: string): Promise<UnnamedPair>;
  /** Removes the unnamed archive, and the journal too unless the container may still be frozen. */
  discard(frozen: boolean): Promise<void>;
}

/** A new name for a draft's folder. */
export function createDraftName(): string {
  return `${draftPrefix}${crypto.randomUUID()}`;
}

/** Creates a draft in `folder`, with its journal; nothing is left there when this fails. The caller disposes of it. */
export async function openDraft(folder: string, name: string, journal: Journal): Promise<Draft> {
  const own = join(folder, name);
  const archive = join(own, archiveFile);
  const sealedArchive = join(own, sealedFile);
  const removeAll = (): Promise<void> => rm(own, { recursive: true, force: true });
  await mkdir(own, { mode: 0o700 });
  let file: FileHandle | undefined;
  try {
    file = await open(archive, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    await writeJournal(own, journal);
  } catch (error) {
    await file?.close();
    await removeAll();
    throw error;
  }
  let made = file;
  return {
    name,
    archive,
    sealedArchive,
    async verify() {
      made = await reopenIfReplaced(made, archive);
      await verify(made);
      await made.chmod(0o600);
    },
    sync: () => made.sync(),
    async writeRecord(text) {
      const sidecar = join(own, recordFile);
      await rm(sidecar, { force: true });
      await using file = await open(sidecar, 'wx', 0o600);
      await file.writeFile(text);
      await file.sync();
      return { archive: (await exists(archive)) ? archive : sealedArchive, sidecar };
    },
    async discard(frozen) {
      await rm(archive, { force: true });
      await rm(sealedArchive, { force: true });
      if (!frozen) await removeAll();
    },
    [Symbol.asyncDispose]: () => made.close(),
  };
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** Some runtimes write a file of their own and rename it over the one that this process created. */
async function reopenIfReplaced(made: FileHandle, archive: string): Promise<FileHandle> {
  const [ours, there] = [await made.stat(), await lstat(archive)];
  if (ours.ino === there.ino && ours.dev === there.dev) return made;
  if (!there.isFile()) throw new Error('the container runtime left something that is not a file');
  const replaced = await open(archive, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await made.close();
  return replaced;
}

async function verify(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  if (size === 0) throw new Error('the container runtime reported success but wrote nothing');
  if (!(await isTarFile(file))) {
    throw new Error('the container runtime reported success but what it wrote is not a tar archive');
  }
}
