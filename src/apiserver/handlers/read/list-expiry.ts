import { StatusError } from '../../../api/index.ts';
import type { ApiRequest } from '../request.ts';
import { listName } from './list-selectors.ts';

/** 410 for a version that is older than the history. */
export function tooOldVersion(revision: number): StatusError {
  return new StatusError('Expired', `The resourceVersion for the provided list is too old: ${revision}`);
}

/**
 * 410 for a token whose state is no longer available; the error has a new token that continues behind `after` in the newest
 * state.
 */
export function expiredToken(request: ApiRequest, after: string): StatusError {
  const message =
    'the continue token is too old to go on with the list as it was: list again without it, or go on with the token of ' +
    'this answer (metadata.continue), and miss or meet twice what has changed since';
  const token = request.continueTokens.seal(listName(request), { revision: undefined, after });
  return new StatusError('Expired', message, { metadata: { continue: token } });
}
