import type { StoredCheckpoint } from '../archive-folder.ts';
import type { CheckpointRecord } from '../record.ts';

/** The group and version of all bodies here; this program's own. */
export const apiVersion = 'checkpoints.nodeward.io/v1';

/**
 * What is known about an archive's content. `Unverified`: it has not been read since it was made. `Unknown`: there is no
 * readable sidecar to compare it with.
 */
type CheckpointState = 'Unverified' | 'Matches' | 'Damaged' | 'Unknown';

/** The body of a response about a checkpoint. */
interface CheckpointBody {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'Checkpoint';
  readonly id: string;
  /** Path of the archive on the node. */
  readonly path: string;
  readonly bytes: number;
  /** RFC 3339, when the archive was last written. */
  readonly modifiedAt: string;
  readonly state: CheckpointState;
  readonly pinned: boolean;
  /** What is wrong with the sidecar or the archive. */
  readonly problem?: string;
  /** The content of the sidecar. */
  readonly record?: CheckpointRecord;
}

export function resolveState({ record }: Pick<StoredCheckpoint, 'record'>): CheckpointState {
  if (record === undefined) return 'Unknown';
  if (record.verified === undefined) return 'Unverified';
  return record.verified.result === 'matches' ? 'Matches' : 'Damaged';
}

export function toCheckpointBody(stored: StoredCheckpoint): CheckpointBody {
  const { id, path, bytes, modifiedMs, record } = stored;
  const problem = stored.problem ?? record?.verified?.problem;
  return {
    apiVersion,
    kind: 'Checkpoint',
    id,
    path,
    bytes,
    modifiedAt: new Date(modifiedMs).toISOString(),
    state: resolveState(stored),
    pinned: record?.pinned ?? false,
    ...(problem === undefined ? {} : { problem }),
    ...(record === undefined ? {} : { record }),
  };
}
