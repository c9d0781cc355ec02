import type { Clock } from '../../../base/index.ts';

/**
 * The time of day as far as it can be believed, for ages. A wall clock that is set ahead by mistake would make everything
 * old at once, and what is removed then does not come back when the clock is mended.
 */
export interface SteadyTime {
  /**
   * Milliseconds since 1970; undefined while it is not to be believed: in the first ten minutes, and after the wall clock
   * has jumped ahead until it has gone on evenly for an hour. To be asked every few minutes: that is how a jump is seen.
   */
  now(): number | undefined;
}

/** What corrections of the clock amount to in ordinary service. */
const toleranceMs = 60_000;
const firstMs = 10 * 60_000;
const settlingMs = 3600_000;

/** Begins to watch the clock. A clock that is set back is believed at once: it makes everything younger. */
export function watchSteadyTime(clock: Clock): SteadyTime {
  const offset = () => clock.now() - clock.monotonicMs();
  let lastOffset = offset();
  let believedFromMs = clock.monotonicMs() + firstMs;
  return {
    now() {
      const nowMs = clock.monotonicMs();
      const jumpMs = offset() - lastOffset;
      lastOffset += jumpMs;
      if (jumpMs > toleranceMs) believedFromMs = nowMs + settlingMs;
      return nowMs < believedFromMs ? undefined : clock.now();
    },
  };
}
