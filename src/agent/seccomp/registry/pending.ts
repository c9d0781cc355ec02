/** A path at which something may have changed, and what has been seen of it since. */
export interface Pending {
  /** What was there at the last look, and since when by the monotonic clock; undefined before the first look. */
  seen: { what: string; sinceMs: number } | undefined;
  /** When to look again, by the monotonic clock. */
  dueMs: number;
}

/** Takes note of what is there now, and answers how long it has been so, as far as this has been seen. */
export function noteSeen(pending: Pending, what: string, nowMs: number): number {
  if (pending.seen?.what !== what) pending.seen = { what, sinceMs: nowMs };
  return nowMs - pending.seen.sinceMs;
}

/** What is due is never due again in the same moment. */
export function lookAgain(pending: Pending, nowMs: number, afterMs: number): void {
  pending.dueMs = nowMs + Math.max(1, afterMs);
}
