import type { FastifyRequest } from 'fastify';
import { accessDiffKind, StatusError } from '../../../api/index.ts';
import { accessDiffHeader, checkDiffable } from '../../handlers/index.ts';
import type { HttpOptions } from '../options.ts';
import { authorizeRequest } from './access.ts';
import type { Admitted } from './admit.ts';

/** As a key of the parsed headers of a request. */
export const diffHeader = accessDiffHeader.toLowerCase();

/**
 * Whether a request asks which rights of all users it would change. Throws 400 for a request that cannot ask this, and 403
 * unless the caller may create an AccessDiff as well, because the answer contains rights of others.
 */
export async function asksForDiff(
  { headers }: Pick<FastifyRequest, 'headers'>,
  admitted: Admitted,
  { authorizer, registry }: Pick<HttpOptions, 'authorizer' | 'registry'>,
): Promise<boolean> {
  const value = headers[diffHeader];
  if (value === undefined || value === 'false') return false;
  if (value !== 'true')
    throw new StatusError('BadRequest', `the header ${accessDiffHeader} takes true or false`);
  checkDiffable(admitted);
  const resource = registry.resources.find(({ kind }) => Object.is(kind, accessDiffKind));
  if (resource === undefined) throw new Error('AccessDiffs are not served');
  const asked = { resource, subresource: '', namespace: '', name: '', user: admitted.user, verb: 'create' };
  await authorizeRequest(asked, authorizer);
  return true;
}
