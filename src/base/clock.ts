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
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    const endMs = performance.now() + ms;
    let restMs = ms;
    do {
      await oneTimer(restMs > 0 ? Math.min(restMs, maxTimerMs) : 0, signal);
      restMs = endMs - performance.now();
    } while (restMs >= 1 && !signal?.aborted);
  },
};

/** A quarter of the memory of the one in node:timers/promises: there are thousands of watches, each with its end. */
function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
