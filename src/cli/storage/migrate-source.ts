import type { MigrationSource, Reading, SourceHold } from '../../apiserver/storage/index.ts';
import { StorageError } from '../../apiserver/storage/index.ts';
import type { HoldReport } from '../../apiserver/storage-admin/index.ts';
import { SnapshotReader } from '../../apiserver/storage-admin/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { StorageAccess } from './access.ts';

const renewEveryMs = 10_000;

/** A SQLite store as the source of a migration. It owns `access`. */
export async function createSqliteSource(access: StorageAccess, name: string): Promise<MigrationSource> {
  const { groupSuffix } = await access.stats();
  return {
    name,
    groupSuffix,
    async read(): Promise<Reading> {
      const snapshot = await SnapshotReader.open(access.snapshot(), 'of the source').catch(explainCorrupt);
      return { revision: snapshot.header.revision, objects: explainErrors(snapshot.objects()) };
    },
    hold: (to) => holdWrites(access, to),
    [Symbol.asyncDispose]: () => access[Symbol.asyncDispose](),
  };
}

async function* explainErrors<T>(objects: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* objects;
  } catch (error) {
    explainCorrupt(error);
  }
}

/** Once a server has begun to send a snapshot, only its log says why it broke off. */
function explainCorrupt(error: unknown): never {
  if (!(error instanceof StorageError) || error.code !== 'corrupt') throw error;
  throw new ExitError(
    exitCodes.configuration,
    `the source cannot be read to its end: ${error.message}; find out why with: nodeward storage check`,
    { cause: error },
  );
}

async function holdWrites({ hold }: StorageAccess, to: string): Promise<SourceHold> {
  const { revision } = await hold.take(to);
  let sealed = false;
  let renewing: Promise<HoldReport | undefined> = Promise.resolve(undefined);
  const timer = setInterval(() => {
    renewing = hold.take(to).catch(() => undefined); // if the hold was lost, `seal` fails
  }, renewEveryMs);
  return {
    revision,
    async seal() {
      clearInterval(timer);
      await renewing;
      await hold.seal(revision, to);
      sealed = true;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await renewing;
      if (!sealed) await hold.release();
    },
  };
}
