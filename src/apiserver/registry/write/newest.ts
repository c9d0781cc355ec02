import type { ApiObject } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { Parts } from './parts.ts';

/** How long memory may take to come to what the store has. */
const waitLimitMs = 3_000;

/**
 * Whether an object is still what memory has shown, also when other servers write to the same store: to be asked before
 * an answer that follows from memory alone. Throws 503 or 504 when that cannot be told.
 */
export async function isNewest<T extends ApiObject>(
  { storage }: Pick<Parts<T>, 'storage'>,
  stored: Stored,
): Promise<boolean> {
  if (storage.shared !== true) return true;
  const newest = await storage.revision();
  if ((await storage.waitFor(newest, AbortSignal.timeout(waitLimitMs))) === 'timeout') {
    throw new StatusError('Timeout', 'the server does not yet show what its store has: try again', {
      details: { retryAfterSeconds: 1 },
    });
  }
  return storage.get(stored.key)?.revision === stored.revision;
}
