import type { FastifyReply, FastifyRequest } from 'fastify';
import { StatusError } from '../../../api/index.ts';
import type { ApiRequest } from '../../handlers/index.ts';
import { isAsked, parseBoolean } from '../../handlers/index.ts';
import type { HttpOptions } from '../options.ts';
import { methodNotAllowed, verbOf } from '../routing/methods.ts';
import { createCloseSignal, queryOf } from '../routing/request.ts';
import type { Route } from '../routing/routes.ts';
import { attributesOf, authenticate, authorizeRequest } from './access.ts';
import { auditAsked } from './audit.ts';
import { narrowBySelectors } from './selectors.ts';

/** An authorized request. It has no body until that is read. */
export interface Admitted extends ApiRequest {
  /** When the caller's credential expires: wall clock, milliseconds. */
  untilMs: number;
}

/**
 * Admits a request to an API path before any of its body is read: authentication (401), authorization (403), path and
 * method (404, 405). So an unauthorized caller neither occupies memory nor learns what exists.
 */
export async function admit(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  options: HttpOptions,
): Promise<Admitted> {
  const { authorizer, clock, continueTokens, registry } = options;
  const found = authenticate(request, options, () => attributesOf(readAsked(route, request)));
  const identity = found instanceof Promise ? await found : found; // an await would cost a microtask
  const { user, untilMs } = identity;
  const { query, verb, served, resource, subresource, namespace, name, isWhole } = readAsked(route, request);
  const isCollection = route.collection;
  const wanted = { resource, subresource, namespace, name, user, verb, isCollection };
  const narrowing = narrowBySelectors(verb, query, registry.gates);
  const allowed = authorizeRequest(
    narrowing === undefined ? wanted : { ...wanted, ...narrowing },
    authorizer,
    (attributes, decision) => auditAsked(request, identity, attributes, decision),
  );
  if (allowed instanceof Promise) await allowed;
  if (!isWhole) throw pathNotFound();
  if (request.method === 'GET') parseBoolean(query, 'watch'); // throws for what is neither true nor false
  if (served === undefined) throw methodNotAllowed(reply, route.methods.keys());
  return {
    verb: served,
    registry,
    resource,
    namespace,
    name,
    subresource,
    query,
    body: undefined,
    userAgent: request.headers['user-agent'] ?? '',
    user,
    continueTokens,
    clock,
    authorize: async (other) => await authorizeRequest({ ...wanted, verb: other }, authorizer),
    signal: () => createCloseSignal(reply.raw),
    untilMs,
  };
}

/** Reads what a request asks for from its method, path and query. */
function readAsked(route: Route, request: FastifyRequest) {
  const query = queryOf(request);
  const isWatch = request.method === 'GET' && isAsked(query, 'watch');
  const { asked: verb, served } = verbOf(route, request, isWatch);
  const { resource, subresource } = route;
  return { query, served, verb, resource, subresource, ...placeOf(route, request) };
}

/** The namespace and name in the path; it is not whole when one of them is empty. */
function placeOf({ places }: Route, { params }: FastifyRequest) {
  const namespace = places.namespace ? partOf(params, 'namespace') : '';
  const name = places.name ? partOf(params, 'name') : '';
  return {
    namespace,
    name,
    isWhole: !(places.namespace && namespace === '') && !(places.name && name === ''),
  };
}

function partOf(params: unknown, name: string): string {
  const value: unknown =
    typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  return typeof value === 'string' ? value : '';
}

export function pathNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource');
}
