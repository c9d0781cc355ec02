import type { Clock } from '../../../base/index.ts';
import { BoundedMap } from '../../../base/index.ts';

/** As in the reference. */
const delays = { firstMs: 1000, maxMs: 15 * 60_000 };

/** As many as the largest clusters have nodes with failing daemons. */
const maxEntries = 20_000;

/**
 * How soon a daemon's pod that has failed is replaced: agents that refuse a pod refuse the next one too. At once the first
 * time, then after a wait that doubles with each failure; forgotten when the longest wait has passed twice without one.
 */
export class FailureBackoff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #waits = new BoundedMap<string, { readonly delayMs: number; readonly sinceMs: number }>({
    maxEntries,
  });

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Milliseconds until a failed pod may be replaced; 0: now. */
  remainingMs(key: string): number {
    const wait = this.#waits.get(key);
    return wait === undefined ? 0 : Math.max(0, wait.sinceMs + wait.delayMs - this.#clock.monotonicMs());
  }

  /** Notes that a failed pod is replaced. */
  note(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#waits.get(key);
    const isOver = before === undefined || nowMs - before.sinceMs > 2 * delays.maxMs;
    const delayMs = isOver ? delays.firstMs : Math.min(before.delayMs * 2, delays.maxMs);
    this.#waits.set(key, { delayMs, sinceMs: nowMs });
  }
}
