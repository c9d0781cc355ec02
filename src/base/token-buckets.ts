export interface TokenBucketOptions {
  /** So many may follow at once. */
  readonly burst: number;
  /** And one more after each such time, in monotonic milliseconds. */
  readonly refillMs: number;
  /** Of keys that are remembered; the one that was asked about longest ago is forgotten first. */
  readonly limit: number;
}

/** A bound on how often something happens, for each of many keys. */
export interface TokenBuckets {
  /** Whether it may happen once more for this key, now. */
  take(key: string, nowMs: number): boolean;
}

export function createTokenBuckets({ burst, refillMs, limit }: TokenBucketOptions): TokenBuckets {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return {
    take(key, nowMs) {
      const { tokens, atMs } = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
      const filled = Math.min(burst, tokens + (nowMs - atMs) / refillMs);
      const isAllowed = filled >= 1;
      buckets.delete(key);
      buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
      forgetOldest(buckets, limit);
      return isAllowed;
    },
  };
}

/** Keeps a map whose newest entries stand last below a size. */
export function forgetOldest(map: Map<string, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}
