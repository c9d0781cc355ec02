import type { MigrationSource, Reading, SourceHold } from '../../apiserver/storage/index.ts';
import { StorageError } from '../../apiserver/storage/index.ts';
import type { HoldReport } from '../../apiserver/storage-admin/index.ts';
import { SnapshotReader } from '../../apiserver/storage-admin/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { StorageAccess } from './access.ts';

const renewEveryMs = 10_000;

/** A store in a folder, through the server that uses it or by its files. It owns `access`. */
export async function sqliteSource(access: StorageAccess, name: string): Promise<MigrationSource> {
  const { groupSuffix } = await access.stats();
  return {
    name,
    groupSuffix,
    async read(): Promise<Reading> {
      const snapshot = await SnapshotReader.open(access.snapshot(), 'of the source').catch(unreadable);
      return { revision: snapshot.header.revision, objects: readable(snapshot.objects()) };
    },
    hold: (to) => holdWriters(access, to),
    [Symbol.asyncDispose]: () => access[Symbol.asyncDispose](),
  };
}

async function* readable<T>(objects: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* objects;
  } catch (error) {
    unreadable(error);
  }
}

/** A server tells the reason in its log alone, once it has begun to answer. */
function unreadable(error: unknown): never {
  if (!(error instanceof StorageError) || error.code !== 'corrupt') throw error;
  throw new ExitError(
    exitCodes.configuration,
    `the source cannot be read to its end: ${error.message}; look what it is with: nodeward storage check`,
    { cause: error },
  );
}

async function holdWriters({ hold }: StorageAccess, to: string): Promise<SourceHold> {
  const { revision } = await hold.take(to);
  let sealed = false;
  let renewing: Promise<HoldReport | undefined> = Promise.resolve(undefined);
  const timer = setInterval(() => {
    renewing = hold.take(to).catch(() => undefined); // whoever seals learns whether it was lost
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
