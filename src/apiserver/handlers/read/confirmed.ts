import { StatusError } from '../../../api/index.ts';
import { confirm } from '../../registry/index.ts';
import type { Answer, ApiRequest } from '../request.ts';

type Handle = (request: ApiRequest) => Promise<Answer>;

/** What is answered from memory before anything is written. That a name is taken, the store itself has said. */
const doubtful: ReadonlySet<string> = new Set(['NotFound', 'Conflict', 'Invalid', 'Forbidden']);

/**
 * A write that is refused because of what memory shows. Where other servers write to the same store, memory may be
 * a moment behind: then the refusal counts only if it is the same in the newest state. Throws 503 or 504 when that cannot
 * be had.
 */
export function confirmed(handle: Handle): Handle {
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
  return error instanceof StatusError && doubtful.has(error.reason);
}
