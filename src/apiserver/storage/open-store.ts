import type { EtcdStoreOptions } from './etcd/index.ts';
import type { MemoryStoreOptions } from './memory/store.ts';
import { MemoryStore } from './memory/store.ts';
import { SqliteStore } from './sqlite/client/store.ts';
import type { SqliteStoreOptions } from './sqlite/client/store-options.ts';
import type { MaintainedStore } from './sqlite/maintenance.ts';
import type { Store } from './types.ts';

export type StoreOptions =
  | ({ readonly kind: 'etcd' } & EtcdStoreOptions)
  | ({ readonly kind: 'sqlite' } & SqliteStoreOptions)
  | ({ readonly kind: 'memory' } & MemoryStoreOptions);

/**
 * Opens a store; the caller closes it. Rejects with a StorageError whose message names the file or the servers and
 * says what to do.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  switch (options.kind) {
    case 'sqlite':
      return await SqliteStore.open(options);
    case 'memory':
      return new MemoryStore(options);
    case 'etcd': {
      const { EtcdStore } = await import('./etcd/index.ts'); // gRPC is loaded only where it is used
      return await EtcdStore.open(options);
    }
  }
}

/** Opens a store in a folder, with the operator's access to it. As openStore. */
export async function openSqlite(options: SqliteStoreOptions): Promise<MaintainedStore> {
  return await SqliteStore.open(options);
}
