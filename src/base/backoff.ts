/** The waits between the attempts at something that fails. */
export interface Backoff {
  /** The next wait in milliseconds: `initialMs`, then doubled each time up to `maxMs`, with jitter taken off. */
  next(): number;
  /** Back to `initialMs`; call it after a success. */
  reset(): void;
}

export interface BackoffOptions {
  initialMs: number;
  /** No wait is longer, not even the first. */
  maxMs: number;
  /** The share of each wait that is random, 0 to 1; default 0 (exact waits). */
  jitter?: number;
  /** A number in [0, 1); default Math.random. */
  random?: () => number;
}

/** Exponential backoff with factor two. It only computes; the caller sleeps. */
export function createBackoff(options: BackoffOptions): Backoff {
  const { initialMs, maxMs, jitter = 0, random = Math.random } = options;
  const firstMs = Math.min(initialMs, maxMs);
  let waitMs = firstMs;
  return {
    next() {
      const current = waitMs;
      waitMs = Math.min(waitMs * 2, maxMs);
      return current * (1 - jitter * random());
    },
    reset() {
      waitMs = firstMs;
    },
  };
}
