import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Verb } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Route } from './routes.ts';

/** Every path is routed for all of these, so that it can say which it serves. */
export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The error for a method that a path does not serve; sets the `Allow` header (RFC 9110, 15.5.6). */
export function methodNotAllowed(reply: FastifyReply, served: Iterable<string>): StatusError {
  reply.header('allow', [...served].join(', '));
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
  );
}

/** The verb of each method, on paths of single objects. */
const usualVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The verb of a request for authorization, and as it is served; `served` is undefined when the path does not serve it. */
export function verbOf(
  { methods, collection, resource }: Route,
  { method }: FastifyRequest,
  isWatch: boolean,
): { asked: string; served: Verb | undefined } {
  const served = methods.get(method);
  if (served === 'list' && isWatch)
    return { asked: 'watch', served: resource.kind.verbs.includes('watch') ? 'watch' : undefined };
  if (served !== undefined) return { asked: served, served };
  if (method === 'DELETE' && collection) return { asked: 'deletecollection', served };
  return { asked: usualVerbOf(method), served };
}

/** The verb of a method when the path does not decide it. */
export function usualVerbOf(method: string): string {
  return usualVerbs[method] ?? method.toLowerCase();
}
