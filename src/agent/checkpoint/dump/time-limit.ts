import type { Clock } from '../../../base/index.ts';

/** What is left of the time that a request may take. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is over. */
  readonly over: AbortSignal;
  /** Seconds in all, as a message tells them. */
  readonly seconds: number;
}

/** Begins to count, or goes on where some of the time is used already; disposal ends it. */
export function startTimeLimit(clock: Clock, limitMs: number, usedMs = 0): TimeLimit {
  const done = new AbortController();
  const over = new AbortController();
  void clock.sleep(limitMs - usedMs, done.signal).then(() => {
    if (!done.signal.aborted) over.abort();
  });
  return { over: over.signal, seconds: limitMs / 1000, [Symbol.dispose]: () => done.abort() };
}
