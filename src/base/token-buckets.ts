import { BoundedMap } from './bounded-map.ts';

export interface TokenBucketOptions {
  /** So many may follow at once. */
  readonly burst: number;
  /** And one more after each such time, in monotonic milliseconds. */
  readonly refillMs: number;
  /** How many keys are remembered; the one that was asked about longest ago is forgotten first. */
  readonly maxKeys: number;
}

/** A bound on how often something happens, for each of many keys. */
export interface TokenBuckets {
  /** Whether it may happen once more for this key, now. */
  take(key: string, nowMs: number): boolean;
}

export function createTokenBuckets({ burst, refillMs, maxKeys }: TokenBucketOptions): TokenBuckets {
  const buckets = new BoundedMap<string, { tokens: number; atMs: number }>({ maxEntries: maxKeys });
  return {
    take(key, nowMs) {
      const { tokens, atMs } = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
      const filled = Math.min(burst, tokens + (nowMs - atMs) / refillMs);
      const isAllowed = filled >= 1;
      buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
      return isAllowed;
    },
  };
}
