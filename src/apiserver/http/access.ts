import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { forbidden, StatusError } from '../../api/index.ts';
import type { Authenticator, Identity, User } from '../authn/index.ts';
import { bearerToken } from '../authn/index.ts';
import type { Attributes, Authorizer } from '../authz/index.ts';
import type { ApiRequest } from '../handlers/index.ts';
import { apiGroupOf } from './paths.ts';
import { pathOf, socketOf } from './request.ts';

/** Who sent a request; throws 401 when that cannot be told. */
export async function authenticate(request: FastifyRequest, authenticator: Authenticator): Promise<Identity> {
  const token = bearerToken(request.headers.authorization);
  const identity = await authenticator.authenticate({ socket: socketOf(request), token });
  if (identity === undefined) throw new StatusError('Unauthorized', 'Unauthorized');
  refuseImpersonation(request.headers, identity.user);
  return identity;
}

/** Who asks to be taken for somebody with fewer rights must not be served with all of their own. */
function refuseImpersonation(headers: IncomingHttpHeaders, user: User): void {
  if (!Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return;
  throw new StatusError(
    'Forbidden',
    `User "${user.name}" cannot impersonate anybody: this server has no impersonation`,
  );
}

/** Throws 403 unless the user may do this with a path that is no object of the API. */
export async function authorizePath(
  request: FastifyRequest,
  user: User,
  authorizer: Authorizer,
): Promise<void> {
  const path = pathOf(request);
  const verb = request.method.toLowerCase();
  const decision = await authorizer.authorize(user, { verb, path });
  if (decision.verdict === 'allow') return;
  throw new StatusError('Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${path}"`);
}

type Asked = Pick<ApiRequest, 'resource' | 'subresource' | 'namespace' | 'name' | 'user'> & { verb: string };

/** Throws 403 unless the user may do this with objects of the API. */
export async function authorizeRequest(request: Asked, authorizer: Authorizer): Promise<void> {
  const { resource, user, verb, namespace, name, subresource } = request;
  const { kind, groupSuffix } = resource;
  const attributes: Attributes = {
    verb,
    group: apiGroupOf(resource),
    version: kind.version,
    resource: kind.resource,
    subresource,
    namespace,
    name,
  };
  const decision = await authorizer.authorize(user, attributes);
  if (decision.verdict === 'allow') return;
  const asked = subresource === '' ? kind : { ...kind, resource: `${kind.resource}/${subresource}` };
  throw forbidden(
    asked,
    groupSuffix,
    { namespace, name },
    { user: user.name, verb, reason: decision.reason },
  );
}
