export {
  defaultCompactionIntervalMs,
  defaultEtcdPrefix,
  type EtcdStoreOptions,
  type EtcdTls,
} from './options.ts';
export { EtcdStore } from './store.ts';
