/** Checkpoints of running containers, safe for the workload (specification 4.11). */

export {
  openArchiveFolder,
  readArchiveRecord,
  type StoredCheckpoint,
} from './archive-folder.ts';
export { createCheckpointer } from './checkpointer.ts';
export {
  dumpLog,
  parseCriuVersion,
  parseFrozenMs,
  statsDump,
} from './dump/criu-stats.ts';
export type { MadeCheckpoint } from './dump/dump.ts';
export { findLeftDumps } from './dump/left-dumps.ts';
export { isTarHeader } from './dump/tar.ts';
export { CheckpointError, type CheckpointFailure } from './errors.ts';
export { type CheckpointManager, createCheckpointManager } from './manage/index.ts';
export type { PodCheckpointRequest } from './pod-set/index.ts';
export { type CheckpointRecord, parseRecord } from './record.ts';
export {
  type RetentionLimits,
  type RetentionSettings,
  retentionScopes,
} from './retention/index.ts';
export { createCheckpointRoutes } from './routes.ts';
export {
  checkRecipient,
  createKeyPair,
  isSealed,
  openArchive,
  readIdentities,
  readRecipients,
  SealError,
} from './sealing/index.ts';
export { type CheckpointSettings, type DiskReserve, defaultSettings } from './settings.ts';
export type { Checkpointer, CheckpointerOptions, CheckpointRequest, CheckpointRuntime } from './types.ts';
