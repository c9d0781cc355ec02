import { setImmediate } from 'node:timers/promises';

/** How long one answer may delay other requests. */
const sliceMs = 5;

/** Maps the items, and yields to the event loop at intervals, so that heartbeats do not wait for lists. */
export async function mapInSlices<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  let sinceMs = performance.now();
  for (const item of items) {
    made.push(make(item));
    if (performance.now() - sinceMs < sliceMs) continue;
    await setImmediate();
    sinceMs = performance.now();
  }
  return made;
}
