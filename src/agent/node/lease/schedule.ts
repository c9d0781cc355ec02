/** Between two renewals of a lease that is valid for so long. */
export function renewalIntervalMs(durationSeconds: number): number {
  return (durationSeconds * 1000) / 4;
}

/** Share by which each interval may be longer or shorter. */
export const jitterShare = 0.04;

/**
 * When the next renewal is due, by the monotonic clock: one interval ± 4 % after the last was due, whatever the
 * requests took in between. Intervals that have passed meanwhile are skipped, and the node keeps its own phase, so
 * that a fleet does not fall into step after an outage. Always later than now, by less than two intervals.
 */
export function nextDue(dueMs: number, nowMs: number, intervalMs: number, random: () => number): number {
  const jittered = () => intervalMs * (1 + jitterShare * (2 * random() - 1));
  const missedMs = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs)) * intervalMs;
  const next = dueMs + missedMs + jittered();
  return next > nowMs ? next : next + jittered();
}
