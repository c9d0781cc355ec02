import type { Clock } from '../../../base/index.ts';

/**
 * The time during which this process listened. A process that is stopped, or does not get its turn, hears nobody, and
 * that is not to be held against the nodes: from one tick to the next no more than the period counts, however late the
 * tick comes. Like the monotonic clock below it, it knows no jumps of the wall clock and no suspend.
 */
export class AwakeTime {
  readonly #clock: Clock;
  readonly #periodMs: number;
  #tickMs: number;
  #beforeMs = 0;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#tickMs = clock.monotonicMs();
  }

  /** Milliseconds since an arbitrary start. */
  get nowMs(): number {
    return this.#beforeMs + Math.min(this.#clock.monotonicMs() - this.#tickMs, this.#periodMs);
  }

  /** Called once in each period. */
  tick(): void {
    this.#beforeMs = this.nowMs;
    this.#tickMs = this.#clock.monotonicMs();
  }
}
