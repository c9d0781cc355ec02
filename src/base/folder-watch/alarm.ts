import type { Clock } from '../index.ts';

/** Waits for the next reason to look, and then until there is quiet. */
export interface Alarm {
  /** Something has happened. Counts also when nobody waits. */
  ring(): void;
  /** Resolves after `ms`, or a while after a ring, or at once when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Where it never gets quiet, so many times `settleMs` are waited for it. */
const patience = 10;

export function createAlarm(clock: Clock, settleMs: number): Alarm {
  let rung = false;
  let current: AbortController | undefined;

  async function sleepUnlessRung(ms: number, signal: AbortSignal): Promise<void> {
    if (rung || signal.aborted) return;
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
      rung = true;
      current?.abort();
    },
    async wait(ms, signal) {
      await sleepUnlessRung(ms, signal);
      for (let turn = 0; rung && !signal.aborted && turn < patience; turn += 1) {
        rung = false;
        await clock.sleep(settleMs, signal);
      }
      rung = false;
    },
  };
}
