import type { FastifyReply, FastifyRequest } from 'fastify';
import { StatusError } from '../../api/index.ts';
import type { ApiRequest } from '../handlers/index.ts';
import { booleanParameter } from '../handlers/index.ts';
import { attributesOf, authenticate, authorizeRequest } from './access.ts';
import { auditAsked } from './audit.ts';
import { methodNotAllowed, verbOf } from './methods.ts';
import type { HttpOptions } from './options.ts';
import { queryOf } from './request.ts';
import type { Route } from './routes.ts';
import { selectedBy } from './selected.ts';

/** All that is known of a request before its body is read. */
export interface Admitted extends Omit<ApiRequest, 'body' | 'patch' | 'signal'> {
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
  const { authorizer, continueTokens, registry } = options;
  const identity = await authenticate(request, options, () => attributesOf(readAsked(route, request)));
  const { user, untilMs } = identity;
  const { query, served, verb: asked, ...object } = readAsked(route, request);
  const place = { ...object, user };
  const authorize = (verb: string) => authorizeRequest({ ...place, verb }, authorizer);
  const selected = selectedBy(asked, query, registry.gates);
  await authorizeRequest({ ...place, verb: asked, ...selected }, authorizer, (attributes, decision) =>
    auditAsked(request, identity, attributes, decision),
  );
  if (served === undefined) throw methodNotAllowed(reply, route.methods.keys());
  const userAgent = request.headers['user-agent'] ?? '';
  return { ...place, registry, query, untilMs, userAgent, continueTokens, authorize, verb: served };
}

/** What a request asks for, as its head tells. */
function readAsked(route: Route, request: FastifyRequest) {
  const query = queryOf(request);
  const watching = request.method === 'GET' && booleanParameter(query, 'watch');
  const { asked: verb, served } = verbOf(route, request, watching);
  const { resource, subresource } = route;
  return { query, served, verb, resource, subresource, ...placeOf(route, request) };
}

/** The namespace and name in the path; throws 404 where the path has an empty part. */
function placeOf({ pattern }: Route, { params }: FastifyRequest): { namespace: string; name: string } {
  const part = (name: string) => {
    if (!`${pattern}/`.includes(`/:${name}/`)) return '';
    const value: unknown =
      typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
    if (typeof value === 'string' && value !== '') return value;
    throw pathNotFound();
  };
  return { namespace: part('namespace'), name: part('name') };
}

export function pathNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource');
}
