export { operatorsError } from '../storage/index.ts';
export { openFolder, restoreSnapshot, storageFolderOf } from './folder.ts';
export { tellStorage } from './metrics.ts';
export { toldOrigin } from './origin.ts';
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
export { takeSnapshot } from './take-snapshot.ts';
export { type HoldReport, holdMs } from './write-hold.ts';
