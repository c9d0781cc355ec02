import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import { ensurePrivateFolder } from '../../base/index.ts';
import type { MaintainedStore, Restored } from '../storage/index.ts';
import { openSqlite, operatorsError, removeMark, restoreStore, StorageError } from '../storage/index.ts';
import { SnapshotReader } from './snapshot-format.ts';

/** Where a control plane with this root dir keeps its store. */
export function storageFolderOf(rootDir: string): string {
  return join(rootDir, 'storage');
}

/**
 * Opens the store of a control plane that does not run; whoever opens it closes it. `locked`: it does run. Throws an
 * ExitError that says what to do.
 */
export async function openFolder(rootDir: string, log: Logger): Promise<MaintainedStore | 'locked'> {
  try {
    // nothing is written, so nothing of history needs to go, nor is any room to be kept
    return await openSqlite({
      folder: storageFolderOf(rootDir),
      identity: undefined,
      historyBytes: Number.POSITIVE_INFINITY,
      reserveBytes: 0,
      log,
    });
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked') return 'locked';
    throw operatorsError(error);
  }
}

export interface RestoreSnapshot {
  readonly rootDir: string;
  readonly file: string;
  /** Whether what is there is kept aside; else it is refused when it holds anything. */
  readonly force: boolean;
  readonly now: Date;
}

/** Makes the store of a control plane that does not run from a snapshot. Throws an ExitError that says what to do. */
export async function restoreSnapshot({ rootDir, file, force, now }: RestoreSnapshot): Promise<Restored> {
  try {
    await ensurePrivateFolder(rootDir);
    const snapshot = await SnapshotReader.open(createReadStream(file), file);
    const objects = snapshot.objects();
    const folder = storageFolderOf(rootDir);
    const restored = await restoreStore({ folder, ...snapshot.header, force, now, objects });
    // of what was there before: this is whole, and here
    for (const mark of ['incomplete', 'moved'] as const) await removeMark(folder, mark);
    return restored;
  } catch (error) {
    throw operatorsError(error);
  }
}
