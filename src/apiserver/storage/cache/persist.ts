import type { Clock } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';

export interface PersistOptions {
  readonly clock: Clock;
  /** Ends the pauses; the next failure is the last. */
  readonly halt: AbortSignal;
  /** Told of each failure, and how long is waited before the next try. */
  readonly onFailure: (error: unknown, waitMs: number) => void;
}

/** Does `work` until it resolves to false: again at once after true, after a growing pause when it rejects. */
export async function persist(
  work: (progressed: () => void) => Promise<boolean>,
  { clock, halt, onFailure }: PersistOptions,
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
