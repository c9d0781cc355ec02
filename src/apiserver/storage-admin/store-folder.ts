import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import { ensurePrivateFolder } from '../../base/index.ts';
import type { MaintainedStore, Restored } from '../storage/index.ts';
import { openSqlite, removeMark, restoreStore, StorageError, toOperatorError } from '../storage/index.ts';
import { SnapshotReader } from './snapshot-format.ts';

/** The folder in which a control plane with this root dir keeps its store. */
export function storageFolderOf(rootDir: string): string {
  return join(rootDir, 'storage');
}

/**
 * Opens the store of a control plane that does not run; the caller closes it. `locked`: it does run. Throws an ExitError
 * that says what to do.
 */
export async function openFolder(rootDir: string, log: Logger): Promise<MaintainedStore | 'locked'> {
  try {
    // nothing is written, so no history must be forgotten and no room reserved
    return await openSqlite({
      folder: storageFolderOf(rootDir),
      identity: undefined,
      historyBytes: Number.POSITIVE_INFINITY,
      reserveBytes: 0,
      log,
    });
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked') return 'locked';
    throw toOperatorError(error);
  }
}

export interface RestoreSnapshot {
  readonly rootDir: string;
  readonly file: string;
  /** Whether an existing store is moved aside; otherwise the restore is refused when it holds objects. */
  readonly force: boolean;
  readonly now: Date;
}

/** Restores the store of a control plane that does not run from a snapshot. Throws an ExitError that says what to do. */
export async function restoreSnapshot({ rootDir, file, force, now }: RestoreSnapshot): Promise<Restored> {
  try {
    await ensurePrivateFolder(rootDir);
    const snapshot = await SnapshotReader.open(createReadStream(file), file);
    const objects = snapshot.objects();
    const folder = storageFolderOf(rootDir);
    const restored = await restoreStore({ folder, ...snapshot.header, force, now, objects });
    // marks of the previous store: the restored one is complete, and here
    for (const mark of ['incomplete', 'moved'] as const) await removeMark(folder, mark);
    return restored;
  } catch (error) {
    throw toOperatorError(error);
  }
}
