import type { Clock } from './clock.ts';

/** What was asked did not answer in time; whether it took effect is unknown. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export interface DeadlineLimits {
  clock: Clock;
  timeoutMs: number;
  /** Gives up at once when it aborts. */
  signal: AbortSignal;
}

/**
 * Waits for `call` at most `timeoutMs`, even where it ignores the signal that it is given and that aborts then.
 * Rejects with a DeadlineError that names `what`, or with the signal's reason when that aborted.
 */
export async function withDeadline<T>(
  limits: DeadlineLimits,
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal } = limits;
  signal.throwIfAborted();
  const inner = new AbortController();
  const settled = new AbortController();
  const onAbort = () => settled.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const deadline = clock.sleep(timeoutMs, settled.signal).then((): never => {
    signal.throwIfAborted();
    throw new DeadlineError(`${what} did not answer within ${timeoutMs / 1000} s`);
  });
  try {
    return await Promise.race([call(inner.signal), deadline]);
  } catch (error) {
    inner.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    settled.abort();
  }
}
