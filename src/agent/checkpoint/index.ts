/** Checkpoints of running containers, safe for the workload (specification 4.11). */

export {
  type ArchiveFolder,
  isCheckpointId,
  openArchiveFolder,
  readArchiveRecord,
  type StoredCheckpoint,
} from './archive-folder.ts';
export { createCheckpointer } from './checkpointer.ts';
export { criuVersion, dumpLog, frozenMs, statsDump } from './criu-notes.ts';
export type { MadeCheckpoint } from './dump.ts';
export { CheckpointError, type CheckpointFailure, type Target } from './errors.ts';
export { findLeftDumps, type LeftDump } from './left-dumps.ts';
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
export { isTarHeader } from './tar.ts';
export type { Checkpointer, CheckpointerOptions, CheckpointRequest, CheckpointRuntime } from './types.ts';
