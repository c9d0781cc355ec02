import type { Clock } from './clock.ts';

/** A sleep that another part may end early. A call of `wake` while nobody sleeps ends the next sleep at once. */
export interface Waker {
  wake(): void;
  /** Resolves after `ms`, on `wake`, or when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWaker(clock: Clock): Waker {
  let woken = false;
  let current: AbortController | undefined;
  return {
    wake() {
      woken = true;
      current?.abort();
    },
    async sleep(ms, signal) {
      const end = new AbortController();
      const onAbort = () => end.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (woken || signal.aborted) end.abort();
      current = end;
      await clock.sleep(ms, end.signal);
      current = undefined;
      woken = false;
      signal.removeEventListener('abort', onAbort);
    },
  };
}
