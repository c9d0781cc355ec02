import type { Verdict } from './identity.ts';
import type { FolderState, LockRecord } from './record.ts';

/*
 * Who has the lock? Two things are there to judge by: the lock file, which names a process, and the folder beside
 * it, whose time its holder keeps fresh.
 *
 *   the process is provably gone             → dead: taken over at once
 *   no folder, and no living process named   → free
 *   the process lives, the folder is fresh   → held
 *   else: look on. The folder moves          → held (whoever moves it)
 *         it stands still for long enough    → dead: a holder that hangs, or one in another pid namespace
 *
 * The wall clock may have been set in between, so an old time alone proves nothing: the folder must be seen
 * standing still. Where its time looks old already, for a little longer than between two beats; else for as
 * long as makes a lock stale.
 */

export interface Sight {
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
  /** Longer than between two beats of a holder. */
  readonly settleMs: number;
}

/** `first`: the earliest sight of the same lock by this contender; the same as `now` at the first look. */
export function judge(first: Sight, now: Sight, limits: Limits): Judgement {
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

/** Whether two sights are of the same holder, so that the second can be measured by the first. */
export function sameHolder(before: Sight, after: Sight): boolean {
  return (
    before.record?.id === after.record?.id && (before.folder === undefined) === (after.folder === undefined)
  );
}
