export { toOperatorError } from '../storage/index.ts';
export { registerStorageMetrics } from './metrics.ts';
export { registerObjectMetrics, registerUnreadableObjects } from './object-metrics.ts';
export { describeOrigin } from './origin.ts';
export { storageRoutes } from './routes.ts';
export { type SnapshotHeader, SnapshotReader } from './snapshot-format.ts';
export {
  type CheckReport,
  type DefragReport,
  isCheckReport,
  isDefragReport,
  isHistoryFacts,
  isStats,
  type StoreStats,
} from './stats.ts';
export { openFolder, restoreSnapshot, storageFolderOf } from './store-folder.ts';
export { takeSnapshot } from './take-snapshot.ts';
export { type HoldReport, holdMs } from './write-hold.ts';
