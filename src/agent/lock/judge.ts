import type { Verdict } from './identity.ts';
import type { FolderState, LockRecord } from './record.ts';

/*
 * Who has the lock? That is judged by two things: the lock file, which names a process, and the folder beside it, which its
 * holder touches regularly (the heartbeat).
 *
 *   the process is provably gone             → dead: taken over at once
 *   no folder, and no living process named   → free
 *   the process lives, the folder is fresh   → held
 *   else: keep observing. Heartbeats come    → held (by whichever process sends them)
 *         none comes for long enough         → dead: a holder that hangs, or one in another pid namespace
 *
 * The wall clock may have been set in between, so an old time alone proves nothing: the folder must be observed to go
 * without a heartbeat. Where its time looks old already, a little longer than between two heartbeats is enough; else it
 * takes as long as makes a lock stale.
 */

export interface Observation {
  readonly record: LockRecord | undefined;
  /** Of the record's process; undefined without a record. */
  readonly verdict: Verdict | undefined;
  readonly folder: FolderState | undefined;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

export type Judgement = 'free' | 'dead' | 'held' | 'unclear';

export interface Limits {
  readonly staleMs: number;
  /** Longer than between two heartbeats of a holder. */
  readonly settleMs: number;
}

/** `first`: the earliest observation of the same holder by this process; the same as `now` at the first time. */
export function judge(first: Observation, now: Observation, limits: Limits): Judgement {
  if (now.verdict === 'gone') return 'dead';
  if (now.folder === undefined) return now.verdict === 'alive' ? 'held' : 'free';
  if (first.folder === undefined || hasMoved(first.folder, now.folder)) return 'held';
  const ageMs = now.nowMs - now.folder.mtimeMs;
  const looksFresh = Math.abs(ageMs) <= limits.staleMs;
  if (looksFresh && now.verdict === 'alive') return 'held';
  const stoodStillMs = now.monotonicMs - first.monotonicMs;
  return stoodStillMs >= (looksFresh ? limits.staleMs : limits.settleMs) ? 'dead' : 'unclear';
}

function hasMoved(before: FolderState, after: FolderState): boolean {
  return before.inode !== after.inode || before.mtimeMs !== after.mtimeMs;
}

/** Whether two observations are of the same holder, so that they can be compared. */
export function isSameHolder(before: Observation, after: Observation): boolean {
  return (
    before.record?.id === after.record?.id && (before.folder === undefined) === (after.folder === undefined)
  );
}
