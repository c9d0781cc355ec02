import { StatusError } from '../../api/index.ts';
import { concurrently } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import { detailsOf, success } from './delete.ts';
import type { DeletionRequest } from './delete-options.ts';
import { readDeletion } from './delete-options.ts';
import { listPage } from './list.ts';
import type { ListOptions } from './list-options.ts';
import { readListOptions } from './list-options.ts';
import type { Answer, ApiRequest } from './request.ts';

const pageSize = 500;
/** Deletions under way at once: enough to share the store's group commits. */
const atOnce = 16;

/**
 * DELETE of a collection: every object that is there when the request comes and is meant by its selectors, with `limit`
 * the first of them by key (specification, section 4.2). Not all or nothing: after a failure, or when the client goes
 * or the time is up, those that were deleted stay deleted.
 */
export async function removeCollection(request: ApiRequest): Promise<Answer> {
  const options = readListOptions(request);
  const asked = readDeletion(request);
  const started = request.resource.storage.applied;
  const limited = limitTime(request.signal, options.timeoutSeconds);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for (let after = ''; left > 0; ) {
    const page = await listPage(request, options, after, pageSize);
    const meant = page.items.filter((stored) => isMeant(request, options, stored, started)).slice(0, left);
    await concurrently(meant, atOnce, (stored) => removeOne(request, asked, stored), limited);
    if (limited.aborted) throw ended();
    left -= meant.length;
    after = page.items.at(-1)?.key ?? after;
    if (page.remaining === 0) break;
  }
  return success(200, detailsOf(request.resource));
}

function limitTime(signal: AbortSignal, seconds: number | undefined): AbortSignal {
  return seconds === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
}

/** What comes while the collection is deleted stays; an old version is of what was there then anyway. */
function isMeant(
  { resource }: ApiRequest,
  { matches }: ListOptions,
  stored: Stored,
  started: number,
): boolean {
  if (stored.createRevision > started) return false;
  return matches?.(resource.encoding.read(stored)) ?? true;
}

/** Deletes that very object; when it is gone, or another one has its name by now, there is nothing to do. */
async function removeOne(
  { resource, user }: ApiRequest,
  { deletion, dryRun }: DeletionRequest,
  stored: Stored,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = resource.encoding.read(stored).metadata ?? {};
  try {
    await resource.delete(namespace, name, { uid, ...deletion }, { user, dryRun });
  } catch (error) {
    const now = resource.storage.get(stored.key);
    const isThere = now !== undefined && resource.encoding.read(now).metadata?.uid === uid;
    const isGone = error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
    if (isThere || !isGone) throw error;
  }
}

function ended(): StatusError {
  const message =
    'the client went or the time was up before all objects were deleted: ask again for the rest';
  return new StatusError('Timeout', message, { details: { retryAfterSeconds: 1 } });
}
