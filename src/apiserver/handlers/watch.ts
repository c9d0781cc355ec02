import { randomInt } from 'node:crypto';
import type { Cause } from '../../api/index.ts';
import { forbiddenValue, unsupportedValue } from '../../api/index.ts';
import type { EventEncoding, Sink, Stored, Watch, WatchStart } from '../storage/index.ts';
import { refuseInvalid } from './invalid-options.ts';
import { readSelection } from './list-options.ts';
import { booleanParameter, integerParameter, optionalBoolean, versionParameter } from './parameters.ts';
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
  refuseInvalid(request, 'ListOptions', watchCauses(query, request.registry.gates.WatchList));
  const seconds = integerParameter(query, 'timeoutSeconds') || leastSeconds + randomInt(leastSeconds);
  const bookmarks = booleanParameter(query, 'allowWatchBookmarks');
  const matches = readSelection(request);
  const start = startOf(request, bookmarks);
  return {
    timeoutMs: seconds * 1000,
    bookmarks,
    open(encoding, sink) {
      const match = (stored: Stored) => matches?.(resource.encoding.read(stored)) ?? true;
      return resource.storage.watch(resource.prefix(request.namespace), start, match, encoding, sink);
    },
  };
}

function startOf({ query, resource }: ApiRequest, bookmark: boolean): WatchStart {
  const revision = versionParameter(query) ?? 0;
  const { applied } = resource.storage;
  const initialEvents = optionalBoolean(query, 'sendInitialEvents');
  // everything that was answered is applied: the state now is the most recent one
  if (initialEvents === true) return { at: 'state', minRevision: revision || applied, bookmark };
  if (initialEvents === false) return { at: 'exact', revision: revision || applied };
  return revision === 0 ? { at: 'state', minRevision: 0, bookmark: false } : { at: 'exact', revision };
}

/** With the gate off clients fall back when they are told so, and hang when they are not. */
function watchCauses(query: URLSearchParams, isWatchListOn: boolean): Cause[] {
  const causes: Cause[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const asksInitialEvents = query.has('sendInitialEvents');
  const forbid = (field: string, detail: string) => causes.push(forbiddenValue(field, detail));
  if (asksInitialEvents && match !== 'NotOlderThan') {
    forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (asksInitialEvents && !isWatchListOn) {
    const gate = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    forbid('sendInitialEvents', gate);
  }
  if (match === '') return causes;
  const field = 'resourceVersionMatch';
  if (!asksInitialEvents)
    forbid(field, `${field} is forbidden for watch unless sendInitialEvents is provided`);
  if (match !== 'NotOlderThan') causes.push(unsupportedValue(field, match, ['NotOlderThan']));
  if (query.get('continue')) forbid(field, `${field} is forbidden when continue is provided`);
  return causes;
}
