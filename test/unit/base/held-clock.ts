import type { Clock } from '../../../src/base/index.ts';

/** A clock that stands still until a test moves it on. */
export interface HeldClock extends Clock {
  /** How long each sleeper that still sleeps has asked for, in the order they went to sleep. */
  readonly asleepMs: readonly number[];
  /** Moves both clocks on and wakes who has slept long enough. */
  advance(ms: number): void;
}

export function heldClock(): HeldClock {
  let elapsedMs = 0;
  const sleepers = new Set<{ ms: number; untilMs: number; wake: () => void }>();
  return {
    get asleepMs() {
      return [...sleepers].map(({ ms }) => ms);
    },
    now: () => Date.UTC(2024, 0, 1) + elapsedMs,
    monotonicMs: () => elapsedMs,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = {
          ms,
          untilMs: elapsedMs + ms,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake, { once: true });
      });
    },
    advance(ms) {
      elapsedMs += ms;
      for (const sleeper of [...sleepers]) if (sleeper.untilMs <= elapsedMs) sleeper.wake();
    },
  };
}
