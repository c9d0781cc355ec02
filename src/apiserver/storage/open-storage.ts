import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, ExitCode, Logger } from '../../base/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { createCache } from './cache/create-cache.ts';
import type { CachedStore } from './cache/types.ts';
import type { StoreOptions } from './open-store.ts';
import { openStore } from './open-store.ts';
import type { MaintainedStore } from './sqlite/maintenance.ts';
import type { ReadValue, StorageErrorCode, Store } from './types.ts';
import { StorageError } from './types.ts';

export type StorageKind = 'sqlite' | 'etcd' | 'memory';

/** Which etcd, and how. */
export type EtcdSettings = Pick<
  Extract<StoreOptions, { kind: 'etcd' }>,
  'servers' | 'prefix' | 'tls' | 'compactionIntervalMs'
>;

export interface OpenStorageOptions {
  rootDir: string;
  storage: StorageKind;
  groupSuffix: string;
  /** Default 5 minutes; not for etcd, whose history is configured in `etcd`. */
  historyMs?: number;
  /** Default 256 MiB; only for SQLite. */
  historyBytes?: number;
  etcd?: EtcdSettings | undefined;
  /** For a store to which other programs write too; default as EtcdStoreOptions. */
  readValue?: ReadValue | undefined;
  clock: Clock;
  log: Logger;
  /** Puts another store in front of the opened one, which it then owns. */
  wrapStore?: ((store: Store) => Store) | undefined;
}

const exitCodeOf: Readonly<Record<StorageErrorCode, ExitCode>> = {
  locked: exitCodes.locked,
  corrupt: exitCodes.configuration,
  newerFormat: exitCodes.configuration,
  wrongIdentity: exitCodes.configuration,
  occupied: exitCodes.failed,
  moved: exitCodes.configuration,
  unusable: exitCodes.unwritable,
  unavailable: exitCodes.failed,
  closed: exitCodes.failed,
};

export interface OpenedStorage {
  /** Closing it closes everything. */
  readonly storage: CachedStore;
  /** The operator's access to the store behind it; undefined for other stores than SQLite's. */
  readonly maintenance: MaintainedStore | undefined;
}

/** Opens the store with its cache. Rejects with an ExitError for what an operator must repair. */
export async function openStorage(options: OpenStorageOptions): Promise<OpenedStorage> {
  const { rootDir, wrapStore = (store) => store } = options;
  const log = options.log.child({ part: 'storage' });
  try {
    const store = await openStore(await storeOptions(options, log));
    const maintenance = isMaintained(store) ? store : undefined;
    if (maintenance?.fresh && maintenance.origin?.how === 'missing') warnOfMissingObjects(rootDir, log);
    return { storage: await withCache(wrapStore(store), options.clock, log), maintenance };
  } catch (error) {
    throw toOperatorError(error);
  }
}

/** An ExitError with the right exit code for a StorageError; any other error as it is. */
export function toOperatorError(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  return new ExitError(exitCodeOf[error.code], error.message, { cause: error });
}

function isMaintained(store: Store): store is MaintainedStore {
  return 'fresh' in store && 'hold' in store && 'run' in store;
}

/** Whether this control plane has served before: then it should have objects. */
async function hasServed(rootDir: string): Promise<boolean> {
  return (await stat(join(rootDir, 'admin.kubeconfig')).catch(() => undefined)) !== undefined;
}

/** Lost objects must not go unnoticed. */
function warnOfMissingObjects(rootDir: string, log: Logger): void {
  log.warn(
    { folder: join(rootDir, 'storage') },
    `the store in ${join(rootDir, 'storage')} was missing or empty, so this control plane starts without any objects ` +
      `although it has served before; if that is not meant, stop it and run: nodeward storage restore --root-dir ${rootDir} FILE --force`,
  );
}

async function storeOptions(options: OpenStorageOptions, log: Logger): Promise<StoreOptions> {
  const { storage, rootDir, groupSuffix, clock, historyMs, historyBytes } = options;
  const history = historyMs === undefined ? {} : { historyMs };
  if (storage === 'memory') return { kind: 'memory', clock, ...history };
  if (storage === 'etcd') return etcdOptions(options, log);
  const bound = historyBytes === undefined ? {} : { historyBytes };
  const opened = {
    folder: join(rootDir, 'storage'),
    identity: { groupSuffix },
    isExpected: await hasServed(rootDir),
  };
  return { kind: 'sqlite', ...opened, clock, log, ...history, ...bound };
}

function etcdOptions({ etcd, groupSuffix, clock, readValue }: OpenStorageOptions, log: Logger): StoreOptions {
  if (etcd === undefined) throw new StorageError('unusable', 'no server of etcd is given');
  return { kind: 'etcd', ...etcd, identity: { groupSuffix }, readValue, clock, log };
}

/** The cache owns the store once it is created; when that fails, the store is closed here. */
async function withCache(store: Store, clock: Clock, log: Logger): Promise<CachedStore> {
  try {
    return await createCache(store, { clock, log });
  } catch (error) {
    await store.close();
    throw error;
  }
}
