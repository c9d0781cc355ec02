import type { FastifyRequest } from 'fastify';
import type { HttpOptions } from '../options.ts';
import { askedAttributes } from '../routing/asked-attributes.ts';
import { authenticate, authorizeAttributes } from './access.ts';

export type RefuseOptions = Pick<HttpOptions, 'authenticator' | 'authorizer' | 'registry'>;

/**
 * Refuses a request that cannot be served with that error, but only to a caller who may do what its path asks for: others get
 * 401 or 403, and learn nothing of what is served. Always rejects.
 */
export async function refuse(
  request: FastifyRequest,
  options: RefuseOptions,
  error: () => Error,
): Promise<never> {
  const attributes = askedAttributes(request);
  const identity = await authenticate(request, options, () => attributes);
  await authorizeAttributes(request, identity, options.authorizer, attributes);
  throw error();
}
