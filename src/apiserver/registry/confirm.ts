import { StatusError } from '../../api/index.ts';
import type { CachedStore, Revision, Stored } from '../storage/index.ts';

/** How long memory may take to catch up with the store. */
const waitLimitMs = 3_000;

/** As CachedStore.confirm, for at most 3 s; then it throws 504. */
export async function confirm(
  storage: CachedStore,
  since: Revision,
  signal?: () => AbortSignal,
): Promise<'confirmed' | 'outdated'> {
  const found = await storage.confirm(since, () => {
    const limit = AbortSignal.timeout(waitLimitMs);
    return signal === undefined ? limit : AbortSignal.any([limit, signal()]);
  });
  if (found === 'timeout') throw createOutdatedError();
  return found;
}

/**
 * Whether an object is still as it is in memory, also when other servers write to the same store. To be called before an
 * answer that is based on memory alone. Throws 503 or 504 when that cannot be found out.
 */
export async function isNewest(storage: CachedStore, stored: Stored): Promise<boolean> {
  if ((await confirm(storage, storage.applied)) === 'confirmed') return true;
  return storage.lookup(stored.key)?.revision === stored.revision;
}

/** The error 504 for a read whose newest state did not arrive in memory in time. */
export function createOutdatedError(): StatusError {
  return new StatusError('Timeout', 'the server does not yet show what its store has: try again', {
    details: { retryAfterSeconds: 1 },
  });
}
