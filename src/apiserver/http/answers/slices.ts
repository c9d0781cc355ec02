import { setImmediate } from 'node:timers/promises';

/** What one answer may hold up the others. */
const sliceMs = 5;

/** Makes something of every item, and lets others have their turn from time to time: heartbeats do not wait for lists. */
export async function inSlices<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
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
