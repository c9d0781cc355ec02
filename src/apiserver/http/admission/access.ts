import type { FastifyRequest } from 'fastify';
import { forbidden, StatusError } from '../../../api/index.ts';
import { reportAuthenticated } from '../../../base/https/index.ts';
import type { Identity } from '../../authn/index.ts';
import { anonymousName, bearerToken } from '../../authn/index.ts';
import type { Attributes, Authorizer, Decision } from '../../authz/index.ts';
import type { ApiRequest } from '../../handlers/index.ts';
import type { HttpOptions } from '../options.ts';
import { apiGroupOf } from '../routing/paths.ts';
import { authorizationOf, routedPathOf, socketOf } from '../routing/request.ts';
import { auditAsked } from './audit.ts';
import { asksToImpersonate, resolveImpersonatedUser } from './impersonation.ts';
import type { Narrowing } from './selectors.ts';

/**
 * Returns the identity of the caller, or the one that they impersonate. Throws 401 when the caller cannot be authenticated,
 * 400 and 403 for impersonation. `attributes`: the requested action, for the audit of a refused impersonation.
 */
export function authenticate(
  request: FastifyRequest,
  { authenticator, authorizer, registry }: Pick<HttpOptions, 'authenticator' | 'authorizer' | 'registry'>,
  attributes: () => Attributes = () => ({ verb: request.method.toLowerCase(), path: routedPathOf(request) }),
): Identity | Promise<Identity> {
  const authorization = authorizationOf(request);
  const token = bearerToken(authorization);
  const presented = authorization !== undefined;
  const found = authenticator.authenticate({ socket: socketOf(request), token, presented });
  return found instanceof Promise ? found.then(resolveIdentity) : resolveIdentity(found);

  function resolveIdentity(identity: Identity | undefined): Identity | Promise<Identity> {
    if (identity === undefined) throw new StatusError('Unauthorized', 'Unauthorized');
    if (identity.user.name !== anonymousName) reportAuthenticated(socketOf(request));
    return asksToImpersonate(request) ? impersonate(identity) : identity;
  }

  async function impersonate(identity: Identity): Promise<Identity> {
    const impersonator = identity.user;
    try {
      const user = await resolveImpersonatedUser(request, impersonator, authorizer, registry.groupSuffix);
      return { ...identity, user, impersonator };
    } catch (error) {
      const reason = error instanceof StatusError ? error.message : '';
      auditAsked(request, identity, attributes(), { verdict: 'deny', reason, errors: [] });
      throw error;
    }
  }
}

/** Throws 403 unless the caller may use this method on a path outside of the API's objects. */
export async function authorizePath(
  request: FastifyRequest,
  identity: Identity,
  authorizer: Authorizer,
): Promise<void> {
  const { user } = identity;
  const path = routedPathOf(request);
  const verb = request.method.toLowerCase();
  const decision = await authorizer.authorize(user, { verb, path });
  auditAsked(request, identity, { verb, path }, decision);
  if (decision.verdict === 'allow') return;
  const why = decision.reason === '' ? '' : `: ${decision.reason}`;
  throw new StatusError('Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${path}"${why}`);
}

/** The attributes of a request, as authorizers take them. */
export function attributesOf(asked: Omit<Asked, 'user'>): Attributes {
  const { verb, namespace, name, subresource, nodeName, selectors } = asked;
  const { version, resource } = asked.resource.kind;
  const group = apiGroupOf(asked.resource);
  const attributes = { verb, group, version, resource, subresource, namespace, name };
  if (!nodeName && !selectors) return attributes;
  return { ...attributes, ...(nodeName && { nodeName }), ...(selectors && { selectors }) };
}

type Asked = Pick<ApiRequest, 'resource' | 'subresource' | 'namespace' | 'name' | 'user'> &
  Partial<Pick<Narrowing, 'nodeName' | 'selectors'>> & { verb: string };

/** Throws or rejects with 403 unless the user may do this to objects of the API. */
export function authorizeRequest(
  request: Asked,
  authorizer: Authorizer,
  onDecision?: (attributes: Attributes, decision: Decision) => void,
): undefined | Promise<undefined> {
  const attributes = attributesOf(request);
  const decision = authorizer.authorize(request.user, attributes);
  return decision instanceof Promise ? decision.then(enforce) : enforce(decision);

  function enforce(made: Decision): undefined {
    onDecision?.(attributes, made);
    if (made.verdict !== 'allow') throw toForbidden(request, made.reason);
  }
}

function toForbidden(
  { resource, user, verb, namespace, name, subresource }: Asked,
  reason: string,
): StatusError {
  const { kind, groupSuffix } = resource;
  const asked = subresource === '' ? kind : { ...kind, resource: `${kind.resource}/${subresource}` };
  return forbidden(asked, groupSuffix, { namespace, name }, { user: user.name, verb, reason });
}
