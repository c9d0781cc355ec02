import type { ListMeta } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { forEachConcurrently } from '../../../base/index.ts';
import type { Revision, Stored } from '../../storage/index.ts';
import { createContinueToken, readChunk } from '../read/list-chunk.ts';
import type { ListOptions } from '../read/list-options.ts';
import { readListOptions } from '../read/list-options.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { detailsOf, success } from './delete.ts';
import type { DeletionRequest } from './delete-options.ts';
import { readDeletion } from './delete-options.ts';

const pageSize = 500;
/** Concurrent deletions: enough to share the store's group commits. */
const atOnce = 16;

/**
 * DELETE of a collection: every object that exists when the request arrives and matches its selectors; with `limit` the
 * first ones by key, and then a token for the rest (specification, section 4.2). Not atomic: after a failure, or when the
 * client goes or the time is up, the objects that were deleted stay deleted.
 */
export async function removeCollection(request: ApiRequest): Promise<Answer> {
  const options = readListOptions(request);
  const asked = readDeletion(request);
  const limited = limitTime(request.signal(), options.timeoutSeconds);
  const removed = await removeInPages({ ...request, signal: () => limited }, options, asked);
  return success(200, detailsOf(request.resource), removed);
}

/** Deletes page by page what existed at the start. Returns where the rest begins. */
async function removeInPages(
  request: ApiRequest,
  options: ListOptions,
  asked: DeletionRequest,
): Promise<ListMeta> {
  const signal = request.signal();
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let { after } = options;
  for (let start: Revision | undefined; ; ) {
    const chunk = await readChunk(request, { ...options, after, limit: Math.min(left, pageSize) });
    const { next } = chunk;
    const started = start ?? chunk.revision;
    start = started;
    const meant = chunk.items.filter(({ createRevision }) => createRevision <= started);
    await forEachConcurrently(meant, atOnce, (stored) => removeOne(request, asked, stored), signal);
    if (signal.aborted) throw timeIsUp();
    left -= meant.length;
    if (next === undefined) return {};
    if (left === 0) return { continue: createContinueToken(request, started, next) };
    after = next;
  }
}

function limitTime(signal: AbortSignal, seconds: number | undefined): AbortSignal {
  return seconds === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
}

/** Deletes exactly this object; does nothing when it is gone, or another object has its name by now. */
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

function timeIsUp(): StatusError {
  const message =
    'the client went or the time was up before all objects were deleted: ask again for the rest';
  return new StatusError('Timeout', message, { details: { retryAfterSeconds: 1 } });
}
