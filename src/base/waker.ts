import type { Clock } from './clock.ts';

/** A sleep that another part may end early. A `wake` while none is under way ends the next sleep at once. */
export interface Waker {
  wake(): void;
  /** Resolves after `ms`, on `wake`, or when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** As a reason it costs nothing; without one, an abort makes an error with a stack. */
const woken = Symbol('woken');

export function createWaker(clock: Clock): Waker {
  let isWoken = false;
  let current: AbortController | undefined;
  return {
    wake() {
      isWoken = true;
      current?.abort(woken);
    },
    async sleep(ms, signal) {
      const end = new AbortController();
      const onAbort = () => end.abort(woken);
      signal.addEventListener('abort', onAbort, { once: true });
      if (isWoken || signal.aborted) end.abort(woken);
      current = end;
      await clock.sleep(ms, end.signal);
      current = undefined;
      isWoken = false;
      signal.removeEventListener('abort', onAbort);
    },
  };
}
