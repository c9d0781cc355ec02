import type { StoredCheckpoint } from '../archive-folder.ts';
import type { CheckpointRecord } from '../record.ts';

/** The group and version of what is answered here; it is this program's own. */
export const apiVersion = 'checkpoints.nodeward.io/v1';

/**
 * What is known of an archive's content. `Unverified`: nobody has read it since it was made. `Unknown`: there is no
 * sidecar that can be read, so nobody can tell.
 */
export type CheckpointState = 'Unverified' | 'Matches' | 'Damaged' | 'Unknown';

/** A checkpoint as it is answered. */
export interface ShownCheckpoint {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'Checkpoint';
  readonly id: string;
  /** Of the archive, on the node. */
  readonly path: string;
  readonly bytes: number;
  /** RFC 3339, when the archive was last written. */
  readonly modifiedAt: string;
  readonly state: CheckpointState;
  readonly pinned: boolean;
  /** What is wrong with the sidecar or the archive. */
  readonly problem?: string;
  /** What the sidecar says. */
  readonly record?: CheckpointRecord;
}

export function stateOf({ record }: Pick<StoredCheckpoint, 'record'>): CheckpointState {
  if (record === undefined) return 'Unknown';
  if (record.verified === undefined) return 'Unverified';
  return record.verified.result === 'matches' ? 'Matches' : 'Damaged';
}

export function shown(stored: StoredCheckpoint): ShownCheckpoint {
  const { id, path, bytes, modifiedMs, record } = stored;
  const problem = stored.problem ?? record?.verified?.problem;
  return {
    apiVersion,
    kind: 'Checkpoint',
    id,
    path,
    bytes,
    modifiedAt: new Date(modifiedMs).toISOString(),
    state: stateOf(stored),
    pinned: record?.pinned ?? false,
    ...(problem === undefined ? {} : { problem }),
    ...(record === undefined ? {} : { record }),
  };
}
