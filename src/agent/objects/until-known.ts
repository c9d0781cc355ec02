import type { Clock } from '../../base/index.ts';
import { noReason } from '../../base/index.ts';

export interface UntilKnown {
  isKnown(): boolean;
  onChange(listener: () => void): Disposable;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves when it is known, when the time is up, or when `signal` aborts. */
export async function untilKnown({ isKnown, onChange, timeoutMs, clock, signal }: UntilKnown): Promise<void> {
  if (isKnown()) return;
  const settled = new AbortController();
  using _follow = onChange(() => {
    if (isKnown()) settled.abort(noReason);
  });
  await clock.sleep(timeoutMs, AbortSignal.any([settled.signal, signal]));
}
