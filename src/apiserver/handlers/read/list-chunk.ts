import type { ListMeta } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import { refuseUnreadable } from '../../registry/index.ts';
import type { Listing, Revision, Stored } from '../../storage/index.ts';
import type { ApiRequest } from '../request.ts';
import { expiredToken, tooOldVersion } from './list-expiry.ts';
import type { ListOptions } from './list-options.ts';
import type { ListScope } from './list-scope.ts';
import { listScope } from './list-scope.ts';
import type { Selectors } from './list-selectors.ts';
import { listName } from './list-selectors.ts';
import { listMatcher } from './match-stored.ts';
import { settle, tooLarge } from './read-version.ts';

/*
 * A chunk is part of one state. A state that is new enough is read from memory in one step, so that no write can come between
 * its objects; an exact version is read from the storage, page by page. With selectors the objects are examined one by one
 * until `limit` matches are found and one more exists, so that it is known that the list continues, and from where:
 *
 *     · ✓ · · ✓ · · ✓        limit 2: the chunk is the first two; the list continues behind the last · before the third
 */

/** A part of a list, all of it in the state at `revision`. */
export interface Chunk {
  items: readonly Stored[];
  revision: Revision;
  /** The key behind which the list continues; undefined at its end. */
  next: string | undefined;
  /** How many objects follow; undefined when each would have to be examined to count them. */
  remaining: number | undefined;
}

/** Objects that are read from the storage at once. */
const pageSize = 500;
/** After so many objects it looks at the clock, which costs as much as one of them. */
const lookEvery = 32;
/** What one request with a limit examines at most; then it returns what it has found so far, even if that is nothing. */
const maxExamined = { objects: 10_000, bytes: 32 * 1024 * 1024 };

/**
 * Reads at most `limit` of the selected objects in the requested state. Throws 410 when that state is no longer available,
 * 504 when it does not arrive in time or the client is gone.
 */
export async function readChunk(request: ApiRequest, options: ListOptions): Promise<Chunk> {
  const scope = listScope(request, options.selectors);
  const first = await readFirstPage(request, options, scope);
  if (options.selectors !== undefined) return await select(request, options, scope, first, options.selectors);
  const { items, revision, remaining } = first;
  return { items, revision, next: remaining === 0 ? undefined : items.at(-1)?.key, remaining };
}

/** The metadata of a list that is a chunk. */
export function createChunkMeta(request: ApiRequest, { revision, next, remaining }: Chunk): ListMeta {
  return {
    resourceVersion: String(revision),
    ...(next === undefined ? {} : { continue: createContinueToken(request, revision, next) }),
    ...(next === undefined || remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
}

/** The token with which the list of this request continues behind a key, in the state at `revision`. */
export function createContinueToken(request: ApiRequest, revision: Revision, after: string): string {
  return request.continueTokens.seal(listName(request), { revision, after });
}

async function readFirstPage(request: ApiRequest, options: ListOptions, scope: ListScope): Promise<Listing> {
  const page = await readAnyPage(request, options, scope);
  const meant = scope.single ? page.unreadable?.filter(({ key }) => key === scope.prefix) : page.unreadable;
  refuseUnreadable(request.resource.kind, request.resource.groupSuffix, meant);
  return page;
}

async function readAnyPage(request: ApiRequest, options: ListOptions, scope: ListScope): Promise<Listing> {
  const { selectors, version, after, limit } = options;
  const { storage } = request.resource;
  const { prefix, single, index } = scope;
  const isExact = version.at === 'exact';
  if (!isExact) await settle(request, version);
  if (!isExact && index !== undefined) return await index.of.list(index.value, prefix, after);
  const size = single ? 1 : firstPageSize(selectors, isExact, limit);
  const page = isExact
    ? await readExactPage(request, prefix, version.revision, after, size)
    : storage.list(prefix, after, size);
  return single ? { ...page, remaining: 0 } : page;
}

/** A page from memory has all objects that may be examined, because the state in memory may have changed by the next read. */
function firstPageSize(
  selectors: Selectors | undefined,
  isExact: boolean,
  limit: number | undefined,
): number {
  if (limit === undefined || selectors === undefined) return limit ?? 0;
  return isExact ? pageSize : maxExamined.objects;
}

async function readExactPage(
  request: ApiRequest,
  prefix: string,
  revision: Revision,
  after: string,
  limit: number,
): Promise<Listing> {
  const { storage } = request.resource;
  let page = await storage.listAt(prefix, revision, after, limit);
  if (page === 'future') {
    await settle(request, { at: 'notOlder', revision });
    page = await storage.listAt(prefix, revision, after, limit);
  }
  if (page === 'future') throw tooLarge(revision, storage.applied);
  if (page === 'compacted') throw after === '' ? tooOldVersion(revision) : expiredToken(request, after);
  return page;
}

async function select(
  request: ApiRequest,
  { after, limit }: ListOptions,
  { prefix }: ListScope,
  first: Listing,
  selectors: Selectors,
): Promise<Chunk> {
  const { resource } = request;
  const matches = listMatcher(resource, selectors);
  const signal = request.signal();
  const { revision } = first;
  const yielder = new EventLoopYielder();
  const items: Stored[] = [];
  let last = after;
  const chunk = (next?: string): Chunk => ({ items, revision, next, remaining: undefined });
  const examined = { objects: 0, bytes: 0 };
  for (let page = first; ; ) {
    for (const stored of page.items) {
      if (limit !== undefined && isEnough(examined)) return chunk(last);
      const isMeant = matches(stored);
      if (isMeant && items.length === limit) return chunk(last);
      if (isMeant) items.push(stored);
      last = stored.key;
      examined.objects += 1;
      examined.bytes += stored.value.byteLength;
      if (examined.objects % lookEvery !== 0) continue;
      if (yielder.isDue) await yielder.yield();
      if (signal.aborted) throw gone();
    }
    if (page.remaining === 0) return chunk();
    const following = await resource.storage.listAt(prefix, revision, last, pageSize);
    // the history may end in between: what was found is correct, and the next request gets the error
    if (typeof following === 'string') return chunk(last);
    refuseUnreadable(resource.kind, resource.groupSuffix, following.unreadable);
    page = following;
  }
}

function isEnough({ objects, bytes }: typeof maxExamined): boolean {
  return objects >= maxExamined.objects || bytes >= maxExamined.bytes;
}

function gone(): StatusError {
  return new StatusError('Timeout', 'the client went or the time was up before the list was made');
}
