/**
 * Works on every item, at most `atOnce` at a time, in order of their beginning. After a failure or once `signal` aborts
 * nothing more is begun; what runs is waited for, then the first failure is thrown.
 */
export async function concurrently<T>(
  items: Iterable<T>,
  atOnce: number,
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
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failures.length > 0) throw failures[0];
}
