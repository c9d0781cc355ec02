/**
 * Calls `work` for every item, starting in their order, with at most `limit` calls at a time. After a failure, or once
 * `signal` aborts, no further call is started; it waits for those under way, then throws the first failure.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    while (failures.length === 0 && !signal?.aborted) {
      const { done, value } = rest.next();
      if (done) return;
      try {
        await work(value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
}

/** Returns the results in the order of the items; see forEachConcurrently. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, R>();
  await forEachConcurrently(items.entries(), limit, async ([index, item]) => {
    results.set(index, await work(item));
  });
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
