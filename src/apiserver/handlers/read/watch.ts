import { randomInt } from 'node:crypto';
import { StatusError } from '../../../api/index.ts';
import { refuseUnreadable } from '../../registry/index.ts';
import type { EventEncoding, Sink, Unreadable, Watch, WatchStart } from '../../storage/index.ts';
import { parseBoolean, parseOptionalBoolean, parseSignedInteger, parseVersion } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';
import type { ListScope } from './list-scope.ts';
import { listScope } from './list-scope.ts';
import { readSelectors } from './list-selectors.ts';
import { watchMatcher } from './match-stored.ts';
import { readVersion, settle } from './read-version.ts';
import type { SharedReads } from './shared-reads.ts';
import { refuseWatchOptions } from './watch-options.ts';

/** Default lifetime of a watch in seconds: as in the reference, at random between 30 and 60 minutes. */
const minSeconds = 1800;

export interface WatchRequest {
  /** After this time the watch ends cleanly. */
  timeoutMs: number;
  /** Whether the client wants bookmarks. */
  bookmarks: boolean;
  open(encoding: EventEncoding, sink: Sink): Watch;
}

/**
 * GET of a collection with `watch`: where the watch starts and which objects it sends (specification, section 4.7). Waits
 * for the version that the start needs; throws 400, 422, and 504 when that takes more than 3 s.
 */
export async function watch(request: ApiRequest, reads: SharedReads): Promise<WatchRequest> {
  const { resource, query } = request;
  refuseWatchOptions(request);
  const seconds = parseSignedInteger(query, 'timeoutSeconds') || minSeconds + randomInt(minSeconds);
  const bookmarks = parseBoolean(query, 'allowWatchBookmarks');
  const selectors = readSelectors(request);
  const scope = listScope(request, selectors);
  const { prefix } = scope;
  const start = await startOf(request, bookmarks);
  if (start.at === 'state')
    refuseUnreadable(resource.kind, resource.groupSuffix, unreadableIn(request, scope));
  const match = selectors === undefined ? everything : watchMatcher(resource, selectors, reads);
  return {
    timeoutMs: Math.max(1, seconds) * 1000, // the reference ends one of less than no time at once
    bookmarks,
    open: (encoding, sink) => resource.storage.watch(prefix, start, match, encoding, sink),
  };
}

/** The state that a watch begins with is as good as a list. */
function unreadableIn({ resource }: ApiRequest, { prefix, single }: ListScope): readonly Unreadable[] {
  const found = resource.storage.unreadable(prefix);
  return single ? found.filter(({ key }) => key === prefix) : found;
}

const everything = () => true;

async function startOf(request: ApiRequest, bookmarks: boolean): Promise<WatchStart> {
  const { query, resource, registry } = request;
  const asked = parseVersion(query) ?? 0;
  const wanted = parseOptionalBoolean(query, 'sendInitialEvents');
  if (asked !== 0 && wanted !== true) {
    await checkReached(request, asked);
    return { at: 'exact', revision: asked };
  }
  await settle(request, readVersion(query)); // from here on the state in memory is recent enough
  if (wanted === false) return { at: 'exact', revision: resource.storage.applied };
  // with the gate on, the old way to ask for the state is the new one too, as the reference has it
  return { at: 'state', minRevision: asked, bookmark: bookmarks && registry.gates.WatchList };
}

/**
 * A version that is greater than the newest of a store that others write too was given by one that is lost, such as
 * before a snapshot was restored: what comes up to it would be missed, so it counts as expired.
 */
async function checkReached({ resource: { storage } }: ApiRequest, version: number): Promise<void> {
  if (await storage.canReach(version)) return;
  throw new StatusError('Expired', `too old resource version: ${version} is none of this store`);
}
