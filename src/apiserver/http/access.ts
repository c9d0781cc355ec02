import type { FastifyRequest } from 'fastify';
import { forbidden, StatusError } from '../../api/index.ts';
import type { Identity } from '../authn/index.ts';
import { bearerToken } from '../authn/index.ts';
import type { Attributes, Authorizer, Decision } from '../authz/index.ts';
import type { ApiRequest } from '../handlers/index.ts';
import { auditAsked } from './audit.ts';
import { impersonated } from './impersonation.ts';
import type { HttpOptions } from './options.ts';
import { apiGroupOf } from './paths.ts';
import { authorizationOf, routedPathOf, socketOf } from './request.ts';
import type { Selected } from './selected.ts';

/**
 * Who a request is from, or is to be taken for; throws 401 when that cannot be told, 400 and 403 of impersonation.
 * `attributes` is what is asked for, for the audit of who may not be whom they want to be.
 */
export async function authenticate(
  request: FastifyRequest,
  { authenticator, authorizer, registry }: Pick<HttpOptions, 'authenticator' | 'authorizer' | 'registry'>,
  attributes: () => Attributes = () => ({ verb: request.method.toLowerCase(), path: routedPathOf(request) }),
): Promise<Identity> {
  const authorization = authorizationOf(request);
  const credentials = { token: bearerToken(authorization), presented: authorization !== undefined };
  const identity = await authenticator.authenticate({ socket: socketOf(request), ...credentials });
  if (identity === undefined) throw new StatusError('Unauthorized', 'Unauthorized');
  const user = await impersonated(request, identity.user, authorizer, registry.groupSuffix).catch((error) => {
    const reason = error instanceof StatusError ? error.message : '';
    auditAsked(request, identity, attributes(), { verdict: 'deny', reason, errors: [] });
    throw error;
  });
  return user === identity.user ? identity : { ...identity, user, impersonator: identity.user };
}

/** Throws 403 unless the caller may do this with a path that is no object of the API. */
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

/** What is asked for, as authorizers are told it. */
export function attributesOf(asked: Omit<Asked, 'user'>): Attributes {
  const { resource, verb, namespace, name, subresource, nodeName, selectors } = asked;
  const { kind } = resource;
  const group = apiGroupOf(resource);
  const what = { group, version: kind.version, resource: kind.resource, subresource };
  return { verb, ...what, namespace, name, ...(nodeName && { nodeName }), ...(selectors && { selectors }) };
}

type Asked = Pick<ApiRequest, 'resource' | 'subresource' | 'namespace' | 'name' | 'user'> &
  Partial<Pick<Selected, 'nodeName' | 'selectors'>> & { verb: string };

/** Throws 403 unless the user may do this with objects of the API. */
export async function authorizeRequest(
  request: Asked,
  authorizer: Authorizer,
  onDecision?: (attributes: Attributes, decision: Decision) => void,
): Promise<void> {
  const { resource, user, verb, namespace, name, subresource } = request;
  const { kind, groupSuffix } = resource;
  const attributes = attributesOf(request);
  const decision = await authorizer.authorize(user, attributes);
  onDecision?.(attributes, decision);
  if (decision.verdict === 'allow') return;
  const asked = subresource === '' ? kind : { ...kind, resource: `${kind.resource}/${subresource}` };
  throw forbidden(
    asked,
    groupSuffix,
    { namespace, name },
    { user: user.name, verb, reason: decision.reason },
  );
}
