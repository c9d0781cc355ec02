/** The source of time, so that a test can replace it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970; may jump in either direction. */
  now(): number;
  /** Monotonic milliseconds since an arbitrary start; never goes back. For all intervals and timeouts. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` of monotonic time, never earlier, however long (weeks too), or at once when `signal` aborts; it never
   * rejects.
   * A wait of zero, a negative one or NaN ends at once.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that setTimeout takes; with a longer one it would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    const endMs = performance.now() + ms;
    let remainingMs = ms;
    do {
      await waitOnce(remainingMs > 0 ? Math.min(remainingMs, maxTimerMs) : 0, signal);
      remainingMs = endMs - performance.now();
      // a timer may fire a fraction of a millisecond early
    } while (remainingMs > 0 && !signal?.aborted);
  },
};

/** Takes a quarter of the memory of setTimeout in node:timers/promises; thousands of watches wait with it for their end. */
function waitOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
