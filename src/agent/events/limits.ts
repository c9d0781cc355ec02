/** So many Events about one object may follow at once, and one more every five minutes; as in the reference. */
const burst = 25;
const refillMs = 300_000;
/** Objects that are remembered; the one that was told of longest ago is forgotten first. */
const objectLimit = 1024;

/** Keeps an object that changes to and fro from filling the store with Events about it. */
export class EventLimits {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  /** Whether one more Event about this object may be written now. `nowMs`: monotonic. */
  take(object: string, nowMs: number): boolean {
    const { tokens, atMs } = this.#buckets.get(object) ?? { tokens: burst, atMs: nowMs };
    const filled = Math.min(burst, tokens + (nowMs - atMs) / refillMs);
    const isAllowed = filled >= 1;
    this.#buckets.delete(object);
    this.#buckets.set(object, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
    forgetOldest(this.#buckets, objectLimit);
    return isAllowed;
  }
}

/** Keeps a map whose newest entries stand last below a size. */
export function forgetOldest(map: Map<string, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}
