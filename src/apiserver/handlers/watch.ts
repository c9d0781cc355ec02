import { randomInt } from 'node:crypto';
import type { EventEncoding, Sink, Stored, Watch, WatchStart } from '../storage/index.ts';
import {
  booleanParameter,
  integerParameter,
  invalidOption,
  selectorParameters,
  versionParameter,
} from './parameters.ts';
import type { ApiRequest } from './request.ts';

/** Seconds that a watch lives when the client does not say: as the reference, at random between 30 and 60 minutes. */
const leastSeconds = 1800;

export interface WatchRequest {
  /** After this time the watch ends in order. */
  timeoutMs: number;
  /** Whether the client wants bookmarks. */
  bookmarks: boolean;
  open(encoding: EventEncoding, sink: Sink): Watch;
}

/** GET of a collection with `watch`: where it starts and what it shows (specification, section 4.7). */
export function watch(request: ApiRequest): WatchRequest {
  const { resource, query } = request;
  refuseInitialEvents(query);
  const seconds = integerParameter(query, 'timeoutSeconds') || leastSeconds + randomInt(leastSeconds);
  const matches = selectorParameters(request);
  const start = startOf(versionParameter(query));
  return {
    timeoutMs: seconds * 1000,
    bookmarks: booleanParameter(query, 'allowWatchBookmarks'),
    open(encoding, sink) {
      const match = (stored: Stored) => matches?.(resource.encoding.read(stored)) ?? true;
      return resource.storage.watch(resource.prefix(request.namespace), start, match, encoding, sink);
    },
  };
}

function startOf(revision: number | undefined): WatchStart {
  if (revision === undefined || revision === 0) return { at: 'state', minRevision: 0, bookmark: false };
  return { at: 'exact', revision };
}

/** The gate WatchList is off: clients fall back when they are told so, and hang when they are not. */
function refuseInitialEvents(query: URLSearchParams): void {
  if (query.get('sendInitialEvents') === null) return;
  const message =
    'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
  throw invalidOption('ListOptions', 'sendInitialEvents', message, 'FieldValueForbidden');
}
