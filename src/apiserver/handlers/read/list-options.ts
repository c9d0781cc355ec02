import type { Cause } from '../../../api/index.ts';
import { forbiddenValue, StatusError, unsupportedValue } from '../../../api/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import { parseCount } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';
import type { ListPosition } from './continue-token.ts';
import { expiredToken } from './list-expiry.ts';
import type { Selectors } from './list-selectors.ts';
import { listName, readSelectors } from './list-selectors.ts';
import type { ReadVersion } from './read-version.ts';
import { readVersion } from './read-version.ts';

/** The state that a list reads (specification, section 4.7). */
export type ListVersion = ReadVersion | { readonly at: 'exact'; readonly revision: number };

/** Which objects of a collection are selected, and in which state. */
export interface ListOptions {
  selectors: Selectors | undefined;
  version: ListVersion;
  /** Only objects after this key; '' for the start. */
  after: string;
  /** Undefined: all. */
  limit: number | undefined;
  timeoutSeconds: number | undefined;
}

const matches = ['Exact', 'NotOlderThan', ''] as const;

/** The parameters of a list and of the deletion of a collection; throws 400 and 422, and 410 for an old token. */
export function readListOptions(request: ApiRequest): ListOptions {
  const { query } = request;
  refuseInvalid(request, 'ListOptions', listCauses(query));
  const version = readVersion(query);
  const limit = parseCount(query, 'limit');
  const timeoutSeconds = parseCount(query, 'timeoutSeconds');
  const options = { selectors: readSelectors(request), limit, timeoutSeconds };
  const position = readPosition(request, version);
  if (position !== undefined) return { ...options, ...toVersionAndAfter(position) };
  return { ...options, version: makeChunkExact(query, version, limit), after: '' };
}

function listCauses(query: URLSearchParams): Cause[] {
  const causes: Cause[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const forbid = (field: string, detail: string) => causes.push(forbiddenValue(field, detail));
  if (match !== '') {
    const field = 'resourceVersionMatch';
    if (version === '') forbid(field, `${field} is forbidden unless resourceVersion is provided`);
    if (query.get('continue')) forbid(field, `${field} is forbidden when continue is provided`);
    if (!matches.some((known) => known === match)) causes.push(unsupportedValue(field, match, matches));
    if (match === 'Exact' && /^0+$/.test(version))
      forbid(field, `${field} "exact" is forbidden for resourceVersion "0"`);
  }
  if (query.has('sendInitialEvents')) forbid('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  return causes;
}

/** A chunk of a list at a version is read at exactly that version, so that the next chunk can be too. */
function makeChunkExact(
  query: URLSearchParams,
  version: ReadVersion,
  limit: number | undefined,
): ListVersion {
  const match = query.get('resourceVersionMatch') ?? '';
  const exact = match === 'Exact' || (match === '' && limit !== undefined);
  return exact && version.at === 'notOlder' ? { ...version, at: 'exact' } : version;
}

/** The position in the continue token of a request; a resourceVersion is allowed besides it only when it has no meaning. */
function readPosition(request: ApiRequest, version: ReadVersion): ListPosition | undefined {
  const token = request.query.get('continue') ?? '';
  if (token === '') return undefined;
  if (version.at === 'notOlder') {
    throw new StatusError('BadRequest', 'specifying resource version is not allowed when using continue');
  }
  const { expired, ...position } = request.continueTokens.open(listName(request), token);
  if (expired) throw expiredToken(request, position.after);
  return position;
}

function toVersionAndAfter({ revision, after }: ListPosition): Pick<ListOptions, 'version' | 'after'> {
  return { version: revision === undefined ? { at: 'newest' } : { at: 'exact', revision }, after };
}
