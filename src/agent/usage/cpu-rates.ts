/** CPU time of a group at a moment. */
interface Sample {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  readonly nanoSeconds: number;
}

interface Tracked {
  base: Sample;
  nanoCores: number | undefined;
  spanMs: number | undefined;
}

/** Samples closer together give no meaningful rate. */
export const minSpanMs = 200;
/** A rate over a longer time would not be a current one. */
export const maxSpanMs = 60_000;
/** As long as callers ask more often than this, a rate is one over at least this time. */
const goodSpanMs = 2000;
const maxTracked = 8192;

/**
 * Rates of CPU time, by the times at which they are asked for: nothing is measured between. A rate is one over the span since
 * a sample of at least 200 ms and at most 60 s ago. Several callers that ask at different times do not shorten each
 * other's span below two seconds.
 */
export class CpuRates {
  readonly #tracked = new Map<string, Tracked>();

  /** Whether a rate could be computed now; if not, a second sample is needed 200 ms after the first. */
  hasBase(key: string, nowMs: number): boolean {
    const tracked = this.#tracked.get(key);
    return tracked !== undefined && nowMs - tracked.base.atMs <= maxSpanMs;
  }

  /**
   * Takes a sample of the group `key`, and returns nanoseconds of CPU time per second, or undefined while none is known. A
   * count that went back is that of another group of the same name.
   */
  sample(key: string, nanoSeconds: number, nowMs: number): number | undefined {
    const tracked = this.#tracked.get(key);
    const spanMs = tracked === undefined ? 0 : nowMs - tracked.base.atMs;
    if (tracked === undefined || spanMs > maxSpanMs || nanoSeconds < tracked.base.nanoSeconds) {
      this.#begin(key, { atMs: nowMs, nanoSeconds });
      return undefined;
    }
    if (spanMs < minSpanMs || (tracked.nanoCores !== undefined && spanMs < goodSpanMs))
      return tracked.nanoCores;
    tracked.nanoCores = Math.round(((nanoSeconds - tracked.base.nanoSeconds) * 1000) / spanMs);
    tracked.spanMs = spanMs;
    tracked.base = { atMs: nowMs, nanoSeconds };
    return tracked.nanoCores;
  }

  /** The time that the last rate of the group is one of. */
  spanMs(key: string): number | undefined {
    return this.#tracked.get(key)?.spanMs;
  }

  #begin(key: string, base: Sample): void {
    this.#tracked.delete(key);
    this.#tracked.set(key, { base, nanoCores: undefined, spanMs: undefined });
    const [oldest] = this.#tracked.keys();
    if (this.#tracked.size > maxTracked && oldest !== undefined) this.#tracked.delete(oldest);
  }

  /** Drops what was last sampled so long ago that it gives no rate any more. */
  forgetOld(nowMs: number): void {
    for (const [key, { base }] of this.#tracked) if (nowMs - base.atMs > maxSpanMs) this.#tracked.delete(key);
  }
}
