import type { Clock } from '../../base/index.ts';
import { createWaker } from '../../base/index.ts';

/** What is due and wakes so late: this process was stopped, or had no processor. */
const maxLateMs = 1000;
/** Probes are spread over their period, over so much at most: one with a long period is not kept waiting. */
const maxSpreadMs = 10_000;
/** Its multiples, cut to what is behind the point, lie as evenly as any number of points can. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
/** While nothing is due: longer sleeps are no cheaper. */
const restMs = 60 * 60_000;

/**
 * When each probe of the node is due: one sleep for all. After a time in which the process did not run everything is due by so much
 * later, so that what was spread stays spread. All times are monotonic milliseconds. For thousands of items, not more: each wake
 * looks through all of them.
 */
export class ProbeSchedule<T> {
  readonly #clock: Clock;
  readonly #due = new Map<T, number>();
  readonly #waker: ReturnType<typeof createWaker>;
  #points = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#waker = createWaker(clock);
  }

  get size(): number {
    return this.#due.size;
  }

  /** A time at or after `fromMs`, within one period, apart from those that were chosen before. */
  choosePoint(fromMs: number, periodMs: number): number {
    const spreadMs = Math.min(periodMs, maxSpreadMs);
    this.#points += 1;
    const pointMs = ((this.#points * goldenRatio) % 1) * spreadMs;
    const behindMs = (fromMs - pointMs) % spreadMs;
    return fromMs + (behindMs <= 0 ? -behindMs : spreadMs - behindMs);
  }

  set(item: T, dueMs: number): void {
    const isFirst = dueMs < this.#nextMs();
    this.#due.set(item, dueMs);
    if (isFirst) this.#waker.wake();
  }

  delete(item: T): void {
    this.#due.delete(item);
  }

  has(item: T): boolean {
    return this.#due.has(item);
  }

  /** Calls `onDue` for each item when it is due, once: it is not scheduled any more then. Resolves when `signal` aborts. */
  async run(signal: AbortSignal, onDue: (item: T, dueMs: number) => void): Promise<void> {
    while (!signal.aborted) {
      const nextMs = this.#nextMs();
      await this.#waker.sleep(Math.min(nextMs - this.#clock.monotonicMs(), restMs), signal);
      if (signal.aborted) return;
      const nowMs = this.#clock.monotonicMs();
      if (nowMs - nextMs > maxLateMs) this.#shift(nowMs - nextMs);
      for (const [item, dueMs] of this.#take(nowMs)) onDue(item, dueMs);
    }
  }

  #take(nowMs: number): [T, number][] {
    const taken = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs);
    for (const [item] of taken) this.#due.delete(item);
    return taken;
  }

  #shift(byMs: number): void {
    for (const [item, dueMs] of this.#due) this.#due.set(item, dueMs + byMs);
  }

  #nextMs(): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const dueMs of this.#due.values()) nextMs = Math.min(nextMs, dueMs);
    return nextMs;
  }
}
