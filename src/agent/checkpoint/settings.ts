import type { RetentionSettings } from './retention/index.ts';
import type { EncryptionSettings } from './sealing/index.ts';
import { noEncryption } from './sealing/index.ts';

/** The space that must stay free on a file system, in bytes or as a share of its size (0 to 1). */
export type DiskReserve = { readonly bytes: number } | { readonly share: number };

/** The section `checkpoint` of the configuration, which may change while the agent runs. */
export interface CheckpointSettings {
  /** How many checkpoints are made on the node at a time; other requests wait. At least 1. */
  readonly maxConcurrent: number;
  /** How many requests may wait, for a slot or for another checkpoint of the same container; more are refused. */
  readonly maxWaiting: number;
  /** What happens to a request for a container that is being checkpointed already. */
  readonly onConflict: 'Wait' | 'Refuse';
  /** What must stay free on each file system that a checkpoint needs. */
  readonly diskReserve: DiskReserve;
  /** Which old checkpoints are kept. Default: all. */
  readonly retention: RetentionSettings;
  /** For whom archives are sealed. Default: archives are plain. */
  readonly encryption: EncryptionSettings;
}

export const defaultSettings: CheckpointSettings = Object.freeze({
  maxConcurrent: 2,
  maxWaiting: 100,
  onConflict: 'Wait',
  diskReserve: { share: 0.05 },
  retention: Object.freeze({}),
  encryption: noEncryption,
});
