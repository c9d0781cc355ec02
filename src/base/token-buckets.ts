import { BoundedMap } from './bounded-map.ts';

export interface TokenBucketOptions {
  /** How many may happen at once. */
  readonly burst: number;
  /** After each such interval, in monotonic milliseconds, one more may happen. */
  readonly refillMs: number;
  /** How many keys are remembered; the least recently used is forgotten first. */
  readonly maxKeys: number;
}

/** A rate limit for each of many keys. */
export interface TokenBuckets {
  /** Takes a token of this key; false when there is none now. */
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
