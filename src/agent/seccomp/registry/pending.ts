/** A scheduled check of a path where something may have changed, and the state observed there so far. */
export interface PendingCheck {
  /** The state at the last check, and since when it was observed (monotonic clock); undefined before the first check. */
  observed: { state: string; sinceMs: number } | undefined;
  /** When to check again, by the monotonic clock. */
  dueMs: number;
}

/** Records the present state, and returns for how many milliseconds it has been observed without a change. */
export function observe(pending: PendingCheck, state: string, nowMs: number): number {
  if (pending.observed?.state !== state) pending.observed = { state, sinceMs: nowMs };
  return nowMs - pending.observed.sinceMs;
}

/** Schedules the next check, at least 1 ms from now: nothing is checked twice in the same moment. */
export function scheduleCheck(pending: PendingCheck, nowMs: number, afterMs: number): void {
  pending.dueMs = nowMs + Math.max(1, afterMs);
}
