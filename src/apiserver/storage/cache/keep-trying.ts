import type { Clock } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';

export interface KeepTryingOptions {
  readonly clock: Clock;
  /** Ends a pause; after it aborts, the next failure ends the work. */
  readonly halt: AbortSignal;
  /** Called with each failure and the pause before the next try. */
  readonly onFailure: (error: unknown, waitMs: number) => void;
}

/** Does `work` until it resolves to false: again at once after true, after a growing pause when it rejects. */
export async function keepTrying(
  work: (progressed: () => void) => Promise<boolean>,
  { clock, halt, onFailure }: KeepTryingOptions,
): Promise<void> {
  const backoff = createBackoff({ initialMs: 100, maxMs: 5_000 });
  const progressed = () => backoff.reset();
  for (;;) {
    try {
      if (!(await work(progressed))) return;
    } catch (error) {
      if (halt.aborted) return;
      const waitMs = backoff.next();
      onFailure(error, waitMs);
      await clock.sleep(waitMs, halt);
    }
  }
}
