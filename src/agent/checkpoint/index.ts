/** Checkpoints of running containers, safe for the workload (specification 4.11). */

export {
  type ArchiveFolder,
  isCheckpointId,
  openArchiveFolder,
  readArchiveRecord,
  type StoredCheckpoint,
} from './archive-folder.ts';
export { createCheckpointer } from './checkpointer.ts';
export { criuVersion, dumpLog, frozenMs, statsDump } from './dump/criu-notes.ts';
export type { MadeCheckpoint } from './dump/dump.ts';
export { findLeftDumps, type LeftDump } from './dump/left-dumps.ts';
export { isTarHeader } from './dump/tar.ts';
export { CheckpointError, type CheckpointFailure, type Target } from './errors.ts';
export { type CheckpointManager, createCheckpointManager, type ManagerOptions } from './manage/index.ts';
export type { MadeSet, PodCheckpointRequest, SetManifest } from './pod-set/index.ts';
export { type CheckpointRecord, parseRecord, type RecordChange } from './record.ts';
export {
  type RetentionLimits,
  type RetentionSettings,
  retentionScopes,
} from './retention/index.ts';
export { type CheckpointRoutesOptions, checkpointRoutes } from './routes.ts';
export {
  createKeyPair,
  type EncryptionSettings,
  isSealing,
  openArchive,
  readIdentities,
  readRecipients,
  recipientProblem,
  SealError,
} from './sealing/index.ts';
export { type CheckpointSettings, type DiskReserve, defaultSettings } from './settings.ts';
export type { Checkpointer, CheckpointerOptions, CheckpointRequest, CheckpointRuntime } from './types.ts';
