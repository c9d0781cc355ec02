/** How fast a log grows, and when to look at it next. */
export interface Pace {
  readonly sizeBytes: number;
  /** By the monotonic clock. */
  readonly atMs: number;
  readonly bytesPerMs: number;
}

export interface PaceLimits {
  readonly maxBytes: number;
  /** The longest time between two looks. */
  readonly intervalMs: number;
}

/** The shortest time between two looks at one log; it bounds the work that a fast log makes. */
export const minLookMs = 200;

/** A log that becomes slower counts as fast for some looks more. */
const memory = 0.5;

export function measurePace(before: Pace | undefined, sizeBytes: number, atMs: number): Pace {
  if (before === undefined) return { sizeBytes, atMs, bytesPerMs: 0 };
  const grownBytes = sizeBytes >= before.sizeBytes ? sizeBytes - before.sizeBytes : sizeBytes;
  const bytesPerMs = grownBytes / Math.max(1, atMs - before.atMs);
  return { sizeBytes, atMs, bytesPerMs: Math.max(bytesPerMs, before.bytesPerMs * memory) };
}

/** The wait until the next look: shorter than the log needs to reach its limit at its pace. */
export function waitByPace({ sizeBytes, bytesPerMs }: Pace, { maxBytes, intervalMs }: PaceLimits): number {
  const leftBytes = Math.max(0, maxBytes - sizeBytes);
  const waitMs = bytesPerMs < 1e-6 ? intervalMs : (leftBytes / bytesPerMs) * 0.7;
  return Math.min(intervalMs, Math.max(Math.min(minLookMs, intervalMs), waitMs));
}
