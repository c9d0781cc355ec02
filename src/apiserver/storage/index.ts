export { type CacheOptions, createCache } from './cache/create-cache.ts';
export type {
  Cache,
  CachedStore,
  EventEncoding,
  Sink,
  Watch,
  WatchEnd,
  WatchEventType,
  WatchStart,
} from './cache/types.ts';
export { isProtobuf, whyEncrypted, withoutLineEnd } from './foreign-values.ts';
export { compareKeys } from './key-order.ts';
export {
  type Migrated,
  type MigrationSource,
  type MigrationTarget,
  migrate,
  type Progress,
  type Reading,
  type SourceHold,
  SqliteTarget,
} from './migration/index.ts';
export { openEtcdSource, openEtcdTarget } from './open-migration.ts';
export {
  type EtcdSettings,
  type OpenedStorage,
  type OpenStorageOptions,
  openStorage,
  type StorageKind,
  toOperatorError,
} from './open-storage.ts';
export { openSqlite, openStore, type StoreOptions } from './open-store.ts';
export {
  type Mark,
  type MarkName,
  markFile,
  readMark,
  removeMark,
  writeMark,
} from './sqlite/client/migration-mark.ts';
export { type Restored, type RestoreOptions, restoreStore } from './sqlite/maintenance/restore.ts';
export type {
  CheckReport,
  DefragReport,
  HistoryFacts,
  MaintainedStore,
  Maintenance,
  StoreStats,
  TaskName,
} from './sqlite/maintenance.ts';
export type { StoreOrigin } from './sqlite/origin.ts';
export {
  type Change,
  type ChangeBatch,
  type FailureCode,
  failureCodes,
  isReadable,
  type Listing,
  maxKeyBytes,
  maxValueBytes,
  type Outcome,
  type Page,
  type ReadValue,
  type Revision,
  type State,
  StorageError,
  type StorageErrorCode,
  type Store,
  type StoreChange,
  type Stored,
  type StoreIdentity,
  storageErrorCodes,
  type Unreadable,
  type UnreadableValue,
  type Write,
} from './types.ts';
