/** The time between two renewals of a lease of this duration. */
export function renewalIntervalMs(durationSeconds: number): number {
  return (durationSeconds * 1000) / 4;
}

/** Share by which each interval may be longer or shorter. */
export const jitterShare = 0.04;

/**
 * When the next renewal is due, by the monotonic clock: one interval ± 4 % after the last was due, whatever the
 * requests in between took. Missed intervals are skipped, and the node keeps its own phase, so that a fleet does not renew
 * in step after an outage. Always later than now, by less than two intervals.
 */
export function computeNextDue(
  dueMs: number,
  nowMs: number,
  intervalMs: number,
  random: () => number,
): number {
  const jittered = () => intervalMs * (1 + jitterShare * (2 * random() - 1));
  const missedMs = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs)) * intervalMs;
  const next = dueMs + missedMs + jittered();
  return next > nowMs ? next : next + jittered();
}
