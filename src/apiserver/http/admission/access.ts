import type { FastifyRequest } from 'fastify';
import { forbidden, StatusError } from '../../../api/index.ts';
import { reportAuthenticated } from '../../../base/https/index.ts';
import type { Identity } from '../../authn/index.ts';
import { anonymousName, bearerToken } from '../../authn/index.ts';
import type { Attributes, Authorizer, Decision } from '../../authz/index.ts';
import { namespaceInQuestion } from '../../authz/index.ts';
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
  const path = routedPathOf(request).replace(/(?<=.)\/+$/, ''); // slashes at the end lead to the same
  const attributes = { verb: request.method.toLowerCase(), path };
  await authorizeAttributes(request, identity, authorizer, attributes);
}

/** Throws 403 unless the caller may do this. */
export async function authorizeAttributes(
  request: FastifyRequest,
  identity: Identity,
  authorizer: Authorizer,
  attributes: Attributes,
): Promise<void> {
  const { user } = identity;
  const decision = await authorizer.authorize(user, attributes);
  auditAsked(request, identity, attributes, decision);
  if (decision.verdict !== 'allow') throw toForbidden(user.name, attributes, decision.reason);
}

/** The attributes of a request, as authorizers take them. */
export function attributesOf(asked: Omit<Asked, 'user'>): ObjectAttributes {
  const { verb, name, subresource, nodeName, selectors, isCollection = false } = asked;
  const { version, resource } = asked.resource.kind;
  const group = apiGroupOf(asked.resource);
  const namespace = isCollection ? asked.namespace : namespaceInQuestion({ group, resource }, asked);
  const attributes = { verb, group, version, resource, subresource, namespace, name };
  if (!nodeName && !selectors) return attributes;
  return { ...attributes, ...(nodeName && { nodeName }), ...(selectors && { selectors }) };
}

type ObjectAttributes = Extract<Attributes, { resource: string }>;

type Asked = Pick<ApiRequest, 'resource' | 'subresource' | 'namespace' | 'name' | 'user'> &
  Partial<Pick<Narrowing, 'nodeName' | 'selectors'>> & {
    verb: string;
    /** Whether the path names no object: a selector may, then. Default false. */
    isCollection?: boolean;
  };

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
    if (made.verdict !== 'allow') throw toForbidden(request.user.name, attributes, made.reason);
  }
}

function toForbidden(user: string, asked: Attributes, reason: string): StatusError {
  const { verb } = asked;
  if ('resource' in asked) {
    const { resource, subresource } = asked;
    const what = subresource === '' ? resource : `${resource}/${subresource}`;
    return forbidden({ ...asked, resource: what }, { user, verb, reason });
  }
  const why = reason === '' ? '' : `: ${reason}`;
  return new StatusError('Forbidden', `forbidden: User "${user}" cannot ${verb} path "${asked.path}"${why}`);
}
