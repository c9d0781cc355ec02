export type { MigrationEtcd } from './migration-access.ts';
export { EtcdSource } from './migration-source.ts';
export { EtcdTarget } from './migration-target.ts';
export { EtcdStore } from './store.ts';
export {
  defaultCompactionIntervalMs,
  defaultEtcdPrefix,
  type EtcdStoreOptions,
  type EtcdTls,
} from './wire/options.ts';
