import type { Clock } from './clock.ts';
import { noReason } from './deadline.ts';

/** A sleep that another part may end early. A `wake` while none is under way ends the next sleep at once. */
export interface Waker {
  wake(): void;
  /** A `wake` so far does not end the next sleep: what it was for has been seen to. */
  forget(): void;
  /** Resolves after `ms`, on `wake`, or when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWaker(clock: Clock): Waker {
  let isWoken = false;
  let current: AbortController | undefined;
  return {
    wake() {
      isWoken = true;
      current?.abort(noReason);
    },
    forget() {
      isWoken = false;
    },
    async sleep(ms, signal) {
      const end = new AbortController();
      const onAbort = () => end.abort(noReason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (isWoken || signal.aborted) end.abort(noReason);
      current = end;
      await clock.sleep(ms, end.signal);
      current = undefined;
      isWoken = false;
      signal.removeEventListener('abort', onAbort);
    },
  };
}
