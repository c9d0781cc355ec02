import { join } from 'node:path';
import type { Clock, ExitCode, Logger, Service } from '../base/index.ts';
import { ExitError, exitCodes, untilAborted } from '../base/index.ts';
import type { CachedStore, StorageErrorCode, Store, StoreOptions } from './storage/index.ts';
import { createCache, openStore, StorageError } from './storage/index.ts';

export const storageKinds = ['sqlite', 'memory'] as const;
export type StorageKind = (typeof storageKinds)[number];

export interface OpenStorageOptions {
  rootDir: string;
  storage: StorageKind;
  groupSuffix: string;
  clock: Clock;
  log: Logger;
}

const exitCodeOf: Readonly<Record<StorageErrorCode, ExitCode>> = {
  locked: exitCodes.locked,
  corrupt: exitCodes.configuration,
  newerFormat: exitCodes.configuration,
  wrongIdentity: exitCodes.configuration,
  unusable: exitCodes.unwritable,
  unavailable: exitCodes.failed,
  closed: exitCodes.failed,
};

/** Opens the store with its cache. What is wrong with it is an ExitError: an operator must mend it. */
export async function openStorage(options: OpenStorageOptions): Promise<CachedStore> {
  const log = options.log.child({ part: 'storage' });
  try {
    return await withCache(await openStore(storeOptions(options, log)), options.clock, log);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new ExitError(exitCodeOf[error.code], error.message, { cause: error });
  }
}

function storeOptions(
  { storage, rootDir, groupSuffix, clock }: OpenStorageOptions,
  log: Logger,
): StoreOptions {
  if (storage === 'memory') return { kind: 'memory', clock };
  return { kind: 'sqlite', folder: join(rootDir, 'storage'), identity: { groupSuffix }, clock, log };
}

/** The cache owns the store once it stands; until then the store is closed by whoever opened it. */
async function withCache(store: Store, clock: Clock, log: Logger): Promise<CachedStore> {
  try {
    return await createCache(store, { clock, log });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Ends the whole when the store is gone for good: whoever started this process starts it again. */
export function storageService(storage: CachedStore): Service {
  return {
    name: 'storage',
    dependsOn: [],
    onFailure: 'stop',
    async run(signal, ready) {
      ready();
      await untilAborted(AbortSignal.any([signal, storage.failed]));
      if (storage.failed.aborted && !signal.aborted) throw storage.failed.reason;
    },
  };
}
