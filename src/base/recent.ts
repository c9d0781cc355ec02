import type { Clock } from './clock.ts';

/** Returns a function that answers what `read` answered at most `maxAgeMs` ago. For what is dear to read and seldom changes. */
export function createRecentReader<T>(clock: Clock, maxAgeMs: number, read: () => T): () => T {
  let last: { readonly value: T; readonly atMs: number } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === undefined || nowMs - last.atMs > maxAgeMs) last = { value: read(), atMs: nowMs };
    return last.value;
  };
}
