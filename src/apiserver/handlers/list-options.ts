import type { Cause, Kind } from '../../api/index.ts';
import {
  forbiddenValue,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  StatusError,
  unsupportedValue,
} from '../../api/index.ts';
import { refuseInvalid } from './invalid-options.ts';
import { integerParameter, versionParameter } from './parameters.ts';
import type { ApiRequest } from './request.ts';

/** One test on objects; undefined when all are meant. */
export type Selection = ((object: object) => boolean) | undefined;

/** Which objects of a collection are meant, and at which version (specification, section 4.7). */
export interface ListOptions {
  matches: Selection;
  /** Undefined: the newest. */
  revision: number | undefined;
  match: '' | 'Exact' | 'NotOlderThan';
  /** Undefined: all. */
  limit: number | undefined;
  timeoutSeconds: number | undefined;
}

const matches = ['Exact', 'NotOlderThan', ''] as const;

/** The parameters of a list and of the deletion of a collection; throws 400 and 422. */
export function readListOptions(request: ApiRequest): ListOptions {
  const { query } = request;
  refuseInvalid(request, 'ListOptions', listCauses(query));
  const revision = versionParameter(query);
  refuseToken(query.get('continue') ?? '', revision);
  return {
    matches: readSelection(request),
    revision,
    match: matches.find((known) => known === query.get('resourceVersionMatch')) ?? '',
    limit: integerParameter(query, 'limit') || undefined,
    timeoutSeconds: integerParameter(query, 'timeoutSeconds') || undefined,
  };
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
    if (match === 'Exact' && version === '0')
      forbid(field, `${field} "exact" is forbidden for resourceVersion "0"`);
  }
  if (query.has('sendInitialEvents')) forbid('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  return causes;
}

/** Lists are not cut into chunks here, so nobody has a token to go on with. */
function refuseToken(token: string, revision: number | undefined): void {
  if (token === '') return;
  if (revision !== undefined && revision !== 0) {
    throw new StatusError('BadRequest', 'specifying resource version is not allowed when using continue');
  }
  throw new StatusError('BadRequest', 'continue key is not valid: this server has given no such token');
}

/** The selectors of a request as one test on objects. Throws 400. */
export function readSelection({ query, resource }: ApiRequest): Selection {
  const labels = query.get('labelSelector');
  const fields = query.get('fieldSelector');
  if (!labels && !fields) return undefined;
  return parseSelectors(resource.kind, labels ?? '', fields ?? '');
}

function parseSelectors(kind: Kind, labels: string, fields: string): (object: object) => boolean {
  try {
    const byLabels = parseLabelSelector(labels);
    const byFields = parseFieldSelector(kind, fields);
    return (object) => byLabels.matches(object) && byFields.matches(object);
  } catch (error) {
    if (error instanceof SelectorError) throw new StatusError('BadRequest', error.message, { cause: error });
    throw error;
  }
}
