import type { Clock } from '../../src/base/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { waitFor } from './wait-for.ts';

/** The system's clock, on which sleeps of one length end when the test rings, and not by themselves. */
export interface BellClock extends Clock {
  /** How many sleep that long now. */
  readonly sleepers: number;
  /** Ends the sleeps of that length that have begun. */
  ring(): void;
  /** Waits for somebody to sleep that long, and rings. */
  ringForOne(): Promise<void>;
}

export function bellClock(ms: number): BellClock {
  const sleeping = new Set<() => void>();
  const ring = () => {
    for (const wake of [...sleeping]) wake();
  };
  return {
    ...systemClock,
    get sleepers() {
      return sleeping.size;
    },
    sleep(asked, signal) {
      if (asked !== ms || signal?.aborted) return systemClock.sleep(asked, signal);
      return new Promise((resolve) => {
        const wake = () => {
          sleeping.delete(wake);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        sleeping.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
      });
    },
    ring,
    async ringForOne() {
      await waitFor(`somebody to sleep for ${ms} ms`, () => sleeping.size > 0);
      ring();
    },
  };
}
