import type { Clock } from '../../../base/index.ts';

export interface RateLimitOptions {
  perSecond: number;
  /** How many may come at once after a pause. */
  burst: number;
  clock: Clock;
}

/** Whether something may happen now; if so, it counts. A bucket of `burst` tokens that fills at `perSecond`. */
export function createRateLimit({ perSecond, burst, clock }: RateLimitOptions): () => boolean {
  let tokens = burst;
  let lastMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - lastMs) / 1000) * perSecond);
    lastMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
