import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import type { Backoff } from '../../../base/index.ts';
import { canWait, createStatusPatch } from './status-patch.ts';
import type { PodStatus } from './types.ts';

/** A pod on the API: its name, and which of all that have had the name. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Settled {
  readonly wanted: PodStatus | undefined;
  /** The resourceVersion that the write made. */
  readonly version: string | undefined;
  readonly patch: Record<string, unknown>;
}

/** What is to be written of one pod. */
export interface Lane {
  readonly pod: PodName;
  readonly backoff: Backoff;
  /** The newest status; undefined: none was set since the agent started. */
  wanted: PodStatus | undefined;
  /** Nothing of it is left on the node: its deletion may be confirmed once the API has the end of it. */
  isFinished: boolean;
  /** As the API answered the last write. */
  written: Pod | undefined;
  /** What that write said: where the API answered something else, it is not said again before that changes. */
  settled: Settled | undefined;
  /** Whether a write failed with an unknown outcome, so that what the API has is not known. */
  isUnsure: boolean;
  isWriting: boolean;
  /** Monotonic; no write before. */
  notBeforeMs: number;
  /** Monotonic, when the last write ended; undefined: none has. */
  writtenMs: number | undefined;
  /** Whether what can wait is written later, by a timer. */
  isDeferred: boolean;
  /** Whether what can wait has waited long enough. */
  isRipe: boolean;
  /** Monotonic, when the change came that is not written yet. */
  changedMs: number | undefined;
  /** What was compared last, by identity: nothing is compared twice. */
  compared: { readonly wanted: PodStatus | undefined; readonly version: string | undefined } | undefined;
  /** Why the last write failed; each reason is logged once. */
  complaint: string | undefined;
}

/** What is to be done for a lane now. */
export type Task =
  | { readonly kind: 'patch'; readonly status: Record<string, unknown> }
  | { readonly kind: 'delete' }
  | { readonly kind: 'drop' };

/** Returns the newer one; the watch may be behind the answer to a write, and a write behind the watch. */
export function newestOf(written: Pod | undefined, watched: Pod | undefined): Pod | undefined {
  if (written === undefined || watched === undefined) return watched ?? written;
  return isNewer(written.metadata?.resourceVersion, watched.metadata?.resourceVersion) ? written : watched;
}

const numberPattern = /^\d{1,20}$/;

function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !numberPattern.test(a) || !numberPattern.test(b)) return false;
  return BigInt(a) > BigInt(b);
}

/** Undefined: nothing. `watched`: undefined while the API shows no pod of that name; then nothing can be written. */
export function nextTask(lane: Lane, watched: Pod | undefined): Task | undefined {
  if (watched === undefined) return undefined;
  if (watched.metadata?.uid !== lane.pod.uid) return { kind: 'drop' };
  const newest = newestOf(lane.written, watched);
  const version = newest?.metadata?.resourceVersion;
  const { wanted, settled } = lane;
  const known = lane.isUnsure ? undefined : (newest?.status ?? {});
  const status = wanted === undefined ? undefined : createStatusPatch(known, wanted);
  const isSettled =
    !lane.isUnsure && settled?.version === version && isDeepStrictEqual(settled?.patch, status);
  const isOver = lane.isFinished && mayBeDeleted(newest);
  const isLost = isOver && known !== undefined && wanted !== undefined && canWait(known, wanted);
  if (status !== undefined && !isSettled && !isLost) return { kind: 'patch', status };
  return isOver ? { kind: 'delete' } : undefined;
}

/** With a grace period of 0 its deletion is confirmed already, and it waits for finalizers. */
function mayBeDeleted(pod: Pod | undefined): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod?.metadata ?? {};
  const hasEnded = pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds !== 0 && hasEnded;
}
