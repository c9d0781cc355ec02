import { timeoutError } from './errors.ts';

/** The end of one request's patience: its time is up, or its caller gives up. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** The time no longer counts; the caller's signal does. */
  lift(): void;
  /** What to tell the caller instead of `error`, when the deadline was its cause. */
  explain(error: unknown): unknown;
}

/** Starts the clock of a request to `server`; 0 ms: none. Whoever starts it disposes it. */
export function startDeadline(server: string, timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let expired = false;
  const timer =
    timeoutMs > 0
      ? setTimeout(() => {
          expired = true;
          controller.abort();
        }, timeoutMs)
      : undefined;
  const onAbort = () => controller.abort();
  if (caller?.aborted) controller.abort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    lift: () => clearTimeout(timer),
    explain(error) {
      if (expired) return timeoutError(server, timeoutMs);
      return caller?.aborted ? caller.reason : error;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}
