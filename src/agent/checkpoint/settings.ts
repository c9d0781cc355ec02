import type { RetentionSettings } from './retention/index.ts';
import type { EncryptionSettings } from './sealing/index.ts';
import { noEncryption } from './sealing/index.ts';

/** What stays free on a file system, in bytes or as a share of its size (0 to 1). */
export type DiskReserve = { readonly bytes: number } | { readonly share: number };

/** What an operator can choose about checkpoints, the section `checkpoint` of the configuration; may change while running. */
export interface CheckpointSettings {
  /** How many containers of the node are checkpointed at a time; others wait. From 1 on. */
  readonly maxConcurrent: number;
  /** How many requests may wait, for the node's turn or for another one of the same container; more are refused. */
  readonly maxWaiting: number;
  /** What becomes of a request for a container that is being checkpointed already. */
  readonly onConflict: 'Wait' | 'Refuse';
  /** What a checkpoint must leave free on each file system that it needs. */
  readonly diskReserve: DiskReserve;
  /** What is kept of old checkpoints. Default: all of them. */
  readonly retention: RetentionSettings;
  /** For whom archives are sealed. Default: for nobody, they are plain. */
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
