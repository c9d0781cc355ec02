import type { FastifyReply, FastifyRequest } from 'fastify';
import { StatusError } from '../../../api/index.ts';
import type { ApiRequest } from '../../handlers/index.ts';
import { booleanParameter } from '../../handlers/index.ts';
import type { HttpOptions } from '../options.ts';
import { methodNotAllowed, verbOf } from '../routing/methods.ts';
import { closeSignal, queryOf } from '../routing/request.ts';
import type { Route } from '../routing/routes.ts';
import { attributesOf, authenticate, authorizeRequest } from './access.ts';
import { auditAsked } from './audit.ts';
import { selectedBy } from './selected.ts';

/** A request whose body is not read yet: until then it has none. */
export interface Admitted extends ApiRequest {
  /** When the caller's credential ends: wall clock, milliseconds. */
  untilMs: number;
}

/**
 * Lets a request to a path of the API in, before any of its body is read: who is it (401), may they (403), is there
 * such a thing (404, 405). So whoever may not do something neither occupies memory nor learns what is there.
 */
export async function admit(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  options: HttpOptions,
): Promise<Admitted> {
  const { authorizer, clock, continueTokens, registry } = options;
  const found = authenticate(request, options, () => attributesOf(readAsked(route, request)));
  const identity = found instanceof Promise ? await found : found; // who does not wait need not come again
  const { user, untilMs } = identity;
  const { query, verb, served, resource, subresource, namespace, name } = readAsked(route, request);
  const wanted = { resource, subresource, namespace, name, user, verb };
  const selected = selectedBy(verb, query, registry.gates);
  const allowed = authorizeRequest(
    selected === undefined ? wanted : { ...wanted, ...selected },
    authorizer,
    (attributes, decision) => auditAsked(request, identity, attributes, decision),
  );
  if (allowed instanceof Promise) await allowed;
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
    signal: () => closeSignal(reply.raw),
    untilMs,
  };
}

/** What a request asks for, as its head tells. */
function readAsked(route: Route, request: FastifyRequest) {
  const query = queryOf(request);
  const watching = request.method === 'GET' && booleanParameter(query, 'watch');
  const { asked: verb, served } = verbOf(route, request, watching);
  const { resource, subresource } = route;
  const { namespace, name } = placeOf(route, request);
  return { query, served, verb, resource, subresource, namespace, name };
}

/** The namespace and name in the path; throws 404 where the path has an empty part. */
function placeOf({ places }: Route, { params }: FastifyRequest): { namespace: string; name: string } {
  return {
    namespace: places.namespace ? partOf(params, 'namespace') : '',
    name: places.name ? partOf(params, 'name') : '',
  };
}

function partOf(params: unknown, name: string): string {
  const value: unknown =
    typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw pathNotFound();
}

export function pathNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource');
}
