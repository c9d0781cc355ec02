import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Verb } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Route } from './routes.ts';

/** Every path is routed for all of these, so that it can say which it serves. */
export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The answer to a method that a path does not serve, with those that it does (RFC 9110, 15.5.6). */
export function methodNotAllowed(reply: FastifyReply, served: Iterable<string>): StatusError {
  reply.header('allow', [...served].join(', '));
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
  );
}

/** What each method means where it is served. */
const usualVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** What a request asks for, as authorization calls it; `served` is undefined when it is not to be had here. */
export function verbOf(
  { methods, collection }: Route,
  { method }: FastifyRequest,
  watching: boolean,
): { asked: string; served: Verb | undefined } {
  const served = methods.get(method);
  if (served === 'list' && watching) return { asked: 'watch', served: 'watch' };
  if (served !== undefined) return { asked: served, served };
  if (method === 'DELETE' && collection) return { asked: 'deletecollection', served };
  return { asked: usualVerbOf(method), served };
}

/** What a method asks for where the path does not say otherwise. */
export function usualVerbOf(method: string): string {
  return usualVerbs[method] ?? method.toLowerCase();
}
