/** Checkpoints of running containers, safe for the workload (specification 4.11). */

export {
  type ArchiveFolder,
  isCheckpointId,
  openArchiveFolder,
  type StoredCheckpoint,
} from './archive-folder.ts';
export {
  type Checkpointer,
  type CheckpointerOptions,
  type CheckpointRequest,
  type CheckpointRuntime,
  createCheckpointer,
} from './checkpointer.ts';
export type { MadeCheckpoint } from './dump.ts';
export { CheckpointError, type CheckpointFailure, type Target } from './errors.ts';
export { findLeftDumps, type LeftDump } from './left-dumps.ts';
export { type CheckpointRecord, parseRecord, type RecordChange } from './record.ts';
export { type CheckpointRoutesOptions, checkpointRoutes } from './routes.ts';
export { type CheckpointSettings, type DiskReserve, defaultSettings } from './settings.ts';
