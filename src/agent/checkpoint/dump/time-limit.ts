import type { Clock } from '../../../base/index.ts';

/** The time that a request may take. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is used up. */
  readonly expired: AbortSignal;
  /** The whole time in seconds, for messages. */
  readonly seconds: number;
}

/** Starts the time; `usedMs` of it are used already. Disposal stops it without aborting. */
export function startTimeLimit(clock: Clock, limitMs: number, usedMs = 0): TimeLimit {
  const done = new AbortController();
  const over = new AbortController();
  void clock.sleep(limitMs - usedMs, done.signal).then(() => {
    if (!done.signal.aborted) over.abort();
  });
  return { expired: over.signal, seconds: limitMs / 1000, [Symbol.dispose]: () => done.abort() };
}
