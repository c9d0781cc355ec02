import { StatusError } from '../../../api/index.ts';
import { confirm, UnreadableError } from '../../registry/index.ts';
import type { Answer, ApiRequest } from '../request.ts';

type Handle = (request: ApiRequest) => Promise<Answer>;

/** The errors that come from memory before anything is written. That a name is taken is decided by the store itself. */
const doubtful: ReadonlySet<string> = new Set(['NotFound', 'Conflict', 'Invalid', 'Forbidden']);

/**
 * Wraps a write. When it is refused, and other servers write to the same store, so that memory may be a moment behind, the
 * write runs once more in the newest state, and that result counts. Throws 503 or 504 when the newest state cannot be read.
 */
export function confirmRefusals(handle: Handle): Handle {
  return async (request) => {
    const { storage } = request.resource;
    const since = storage.applied;
    try {
      return await handle(request);
    } catch (error) {
      if (!isDoubtful(error) || (await confirm(storage, since, request.signal)) === 'confirmed') throw error;
      return await handle(request);
    }
  };
}

function isDoubtful(error: unknown): boolean {
  if (error instanceof UnreadableError) return true; // it may have been stored again
  return error instanceof StatusError && doubtful.has(error.reason);
}
