import type { Clock } from '../../../../src/base/index.ts';

/** Sleeps take no time but move the clock. */
export function hurriedClock(): Clock & { readonly elapsedMs: number } {
  let elapsedMs = 0;
  return {
    get elapsedMs() {
      return elapsedMs;
    },
    now: () => Date.UTC(2025, 0, 2, 3, 4, 5, 678) + elapsedMs,
    monotonicMs: () => elapsedMs,
    async sleep(ms, signal) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!signal?.aborted) elapsedMs += ms;
    },
  };
}
