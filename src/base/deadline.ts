import type { Clock } from './clock.ts';

/** A call did not return in time; whether it took effect is unknown. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export interface DeadlineLimits {
  clock: Clock;
  timeoutMs: number;
  /** Ends the wait at once when it aborts. */
  signal: AbortSignal;
}

/** What is waited for, as the subject of a sentence; or what to say in its place when it takes too long, computed then. */
export type AwaitedCall = string | (() => string);

/** As a reason of an abort it costs nothing; without one, an abort makes an error with a stack. For signals that nobody asks why. */
export const noReason = Symbol('no reason');

/**
 * Waits for `call` at most `timeoutMs`. Then the signal given to `call` aborts, and this rejects even if `call` ignores
 * it. Rejects with a DeadlineError that names `what`, or with the reason of `limits.signal` when that aborted.
 */
export async function withDeadline<T>(
  limits: DeadlineLimits,
  what: AwaitedCall,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal } = limits;
  signal.throwIfAborted();
  const inner = new AbortController();
  const settled = new AbortController();
  const onAbort = () => settled.abort(noReason);
  signal.addEventListener('abort', onAbort, { once: true });
  const deadline = clock.sleep(timeoutMs, settled.signal).then((): never => {
    signal.throwIfAborted();
    throw new DeadlineError(
      typeof what === 'string' ? `${what} did not answer within ${timeoutMs / 1000} s` : what(),
    );
  });
  try {
    return await Promise.race([call(inner.signal), deadline]);
  } catch (error) {
    inner.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    settled.abort(noReason);
  }
}
