import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import { markFile, readMark, removeMark, writeMark } from '../sqlite/client/migration-mark.ts';
import { SqliteStore } from '../sqlite/client/store.ts';
import { restoreStore } from '../sqlite/maintenance/restore.ts';
import { databaseName, makeFolder } from '../sqlite/store-folder.ts';
import type { Stored } from '../types.ts';
import { StorageError } from '../types.ts';
import type { LastPart, Migrated, MigrationSource, MigrationTarget, Progress, Reading } from './types.ts';
import { verify } from './verify.ts';

export interface SqliteTargetOptions {
  readonly name: string;
  /** Of the store. */
  readonly folder: string;
  readonly now: () => Date;
  readonly progress: Progress;
}

/**
 * A store in a folder: it is written beside its place while no process writes to the source, and moved there when it is
 * complete. It cannot be updated later, so everything is copied at the end.
 */
export class SqliteTarget implements MigrationTarget {
  readonly name: string;
  readonly #options: SqliteTargetOptions;

  constructor(options: SqliteTargetOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async begin({ name }: MigrationSource): Promise<void> {
    const { folder, now } = this.#options;
    await makeFolder(folder).catch((error: unknown) => {
      throw unusable(folder, error);
    });
    const before = await readMark(folder, 'incomplete');
    if (before === undefined && (await holdsObjects(folder))) {
      throw new StorageError(
        'occupied',
        `there is a store with objects in ${folder}, and it is not replaced; move that folder away, or choose another one`,
      );
    }
    await writeMark(folder, 'incomplete', { place: name, at: now().toISOString() }).catch(
      (error: unknown) => {
        throw unusable(folder, error);
      },
    );
  }

  async finish({ source, hold }: LastPart): Promise<Migrated> {
    const { folder, now, progress } = this.#options;
    progress.step('copying');
    const reading = await source.read();
    let verified = { objects: 0, bytes: 0 };
    const check = async (written: Iterable<Stored>) => {
      progress.step('comparing');
      verified = await verify(await source.read(), written, progress);
      await hold.seal();
    };
    const { groupSuffix } = source;
    const objects = withProgress(reading, progress);
    const { revision } = await restoreStore({
      ...{
        folder,
        groupSuffix,
        revision: Math.max(reading.revision, hold.revision),
        now: now(),
        objects,
        check,
      },
      force: true, // an existing store was made by a migration that was interrupted after its last step but one
    });
    await removeMark(folder, 'moved'); // of an earlier store here
    await removeMark(folder, 'incomplete');
    return { ...verified, revision };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // nothing is kept open
  }
}

async function* withProgress({ objects }: Reading, progress: Progress): AsyncGenerator<Stored> {
  for await (const object of objects) {
    yield object;
    progress.add(1);
  }
}

/** True also when it is unknown, as for a damaged store. Throws when a server uses it. */
async function holdsObjects(folder: string): Promise<boolean> {
  try {
    if ((await stat(join(folder, databaseName))).size === 0) return false;
    await using store = await SqliteStore.open({ folder, identity: undefined, reserveBytes: 0 });
    const page = await store.listAt('', await store.revision(), '', 1);
    return typeof page === 'string' || page.items.length > 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    if (error instanceof StorageError && (error.code === 'corrupt' || error.code === 'newerFormat'))
      return true;
    throw error;
  }
}

function unusable(folder: string, error: unknown): StorageError {
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError(
    'unusable',
    `cannot write in ${folder}: ${why}; look at ${markFile(folder, 'incomplete')}`,
    {
      cause: error,
    },
  );
}
