/** What became of a number of writes. */
export interface BatchResult {
  /** How many succeeded. */
  readonly done: number;
  /** The first failure; what came after its batch was not tried. */
  readonly failure?: unknown;
}

const firstSize = 1;

/**
 * Does the same for each item in batches of 1, 2, 4, …, each batch at once, until one fails: where all are refused for the
 * same reason, few are tried in vain. Never rejects.
 */
export async function inBatches<I>(
  items: readonly I[],
  write: (item: I) => Promise<unknown>,
  maxSize = 500,
): Promise<BatchResult> {
  let done = 0;
  for (
    let start = 0, size = firstSize;
    start < items.length;
    start += size, size = Math.min(size * 2, maxSize)
  ) {
    const results = await Promise.allSettled(items.slice(start, start + size).map((item) => write(item)));
    const failed = results.filter((result) => result.status === 'rejected');
    done += results.length - failed.length;
    const [first] = failed;
    if (first !== undefined) return { done, failure: first.reason };
  }
  return { done };
}
