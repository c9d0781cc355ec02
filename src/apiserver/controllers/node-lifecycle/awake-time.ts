import type { Clock } from '../../../base/index.ts';

/**
 * The time during which this process could receive heartbeats. A process that is stopped, or gets no CPU time, receives
 * none, and that must not count against the nodes: from one tick to the next at most the period counts, however late the
 * tick comes. Like the monotonic clock on which it is based, it ignores jumps of the wall clock and suspend.
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
