import { setImmediate } from 'node:timers/promises';

/** How long one answer may delay other requests. */
const sliceMs = 5;

/** Maps the items, and yields to the event loop at intervals, so that heartbeats do not wait for lists. */
export async function mapInSlices<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  await eachInSlices(items, (item) => made.push(make(item)));
  return made;
}

/** Does the same for what makes nothing. */
export async function eachInSlices<T>(items: readonly T[], work: (item: T) => unknown): Promise<void> {
  let sinceMs = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - sinceMs < sliceMs) continue;
    await setImmediate();
    sinceMs = performance.now();
  }
}
