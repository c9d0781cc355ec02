import type { MigrationEtcd } from './etcd/index.ts';
import type { MigrationSource, MigrationTarget, Progress } from './migration/index.ts';

/** A store in etcd that is moved elsewhere; whoever opens it disposes of it. Rejects with a StorageError. */
export async function openEtcdSource(etcd: MigrationEtcd): Promise<MigrationSource> {
  const { EtcdSource } = await import('./etcd/index.ts'); // gRPC is loaded only where it is used
  return await EtcdSource.open(etcd);
}

/** A place in etcd to which a store is moved. As openEtcdSource; it is reached when the migration begins. */
export async function openEtcdTarget(etcd: MigrationEtcd, progress: Progress): Promise<MigrationTarget> {
  const { EtcdTarget } = await import('./etcd/index.ts');
  return new EtcdTarget(etcd, progress);
}
