import { setTimeout as delay } from 'node:timers/promises';

/** Where time comes from, so that a test can hold it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970; may jump in either direction. */
  now(): number;
  /** Monotonic milliseconds since an arbitrary start; never goes back. For all intervals and timeouts. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` of monotonic time, however long (weeks too), or at once when `signal` aborts (it does not
   * throw then). A wait of zero, below zero or of no number is over at once.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A timer holds at most this; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    const endMs = performance.now() + ms;
    let restMs = ms;
    do {
      await oneTimer(restMs > 0 ? Math.min(restMs, longestTimerMs) : 0, signal);
      restMs = endMs - performance.now();
    } while (restMs >= 1 && !signal?.aborted);
  },
};

async function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
