import type { Clock } from '../index.ts';

/** Waits for the next hint, and then until no more hints come. */
export interface Alarm {
  /** Something has happened. It counts even when no wait is under way: it then ends the next one. */
  ring(): void;
  /** Resolves after `ms`, or once a ring has been followed by quiet, or at once when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Where rings never stop, they are waited for at most so many times `settleMs`. */
const maxSettles = 10;

export function createAlarm(clock: Clock, settleMs: number): Alarm {
  let isRung = false;
  let current: AbortController | undefined;

  async function sleepUnlessRung(ms: number, signal: AbortSignal): Promise<void> {
    if (isRung || signal.aborted) return;
    const end = new AbortController();
    const onAbort = () => end.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    current = end;
    await clock.sleep(ms, end.signal);
    current = undefined;
    signal.removeEventListener('abort', onAbort);
  }

  return {
    ring() {
      isRung = true;
      current?.abort();
    },
    async wait(ms, signal) {
      await sleepUnlessRung(ms, signal);
      for (let settles = 0; isRung && !signal.aborted && settles < maxSettles; settles += 1) {
        isRung = false;
        await clock.sleep(settleMs, signal);
      }
      isRung = false;
    },
  };
}
