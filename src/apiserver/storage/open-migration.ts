import type { MigrationEtcd } from './etcd/index.ts';
import type { MigrationSource, MigrationTarget, Progress } from './migration/index.ts';
import type { ReadValue } from './types.ts';

/**
 * Opens a store in etcd that is to be moved elsewhere; the caller disposes of it. `readerFor`: how the values of a store with
 * this group suffix are read. Rejects with a StorageError.
 */
export async function openEtcdSource(
  etcd: MigrationEtcd,
  readerFor: (groupSuffix: string) => ReadValue,
): Promise<MigrationSource> {
  const { EtcdSource } = await import('./etcd/index.ts'); // gRPC is loaded only where it is used
  return await EtcdSource.open(etcd, readerFor);
}

/** A place in etcd to which a store is moved. As openEtcdSource; etcd is first contacted when the migration begins. */
export async function openEtcdTarget(etcd: MigrationEtcd, progress: Progress): Promise<MigrationTarget> {
  const { EtcdTarget } = await import('./etcd/index.ts');
  return new EtcdTarget(etcd, progress);
}
