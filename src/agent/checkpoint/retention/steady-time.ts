import type { Clock } from '../../../base/index.ts';

/**
 * A wall clock for computing ages, which returns no time while the clock cannot be trusted. A clock that is set ahead by
 * mistake would make every checkpoint old at once, and what is removed then does not come back when the clock is corrected.
 */
export interface SteadyTime {
  /**
   * Milliseconds since 1970. Undefined while the clock is not trusted: in the first ten minutes, and after a jump ahead
   * until it has run steadily for an hour. Must be called every few minutes, because jumps are detected between calls.
   */
  now(): number | undefined;
}

/** Ordinary corrections of the clock are smaller than this. */
const toleranceMs = 60_000;
const firstMs = 10 * 60_000;
const untrustedMs = 3600_000;

/** Starts watching the clock. A clock that is set back is trusted at once: it makes checkpoints younger. */
export function watchSteadyTime(clock: Clock): SteadyTime {
  const offset = () => clock.now() - clock.monotonicMs();
  let lastOffset = offset();
  let trustedFromMs = clock.monotonicMs() + firstMs;
  return {
    now() {
      const nowMs = clock.monotonicMs();
      const jumpMs = offset() - lastOffset;
      lastOffset += jumpMs;
      if (jumpMs > toleranceMs) trustedFromMs = nowMs + untrustedMs;
      return nowMs < trustedFromMs ? undefined : clock.now();
    },
  };
}
