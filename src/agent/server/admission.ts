import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { Access, Caller } from './access/index.ts';
import { RefusedError } from './refusal.ts';
import type { AgentRoute } from './route.ts';
import { subresourcesOf, subresourcesOfUnknown, verbOf } from './route.ts';

/** Lets a request in, or throws a RefusedError: 401, 403, or 503 where it cannot be found out now. */
export interface Admission {
  admit(request: FastifyRequest, route: AgentRoute | undefined): Promise<Caller>;
}

/**
 * What is authorized is what has been routed: there is no second reading of the path that could see another one in it.
 */
export function createAdmission(access: Access, routes: readonly AgentRoute[]): Admission {
  async function callerOf(request: FastifyRequest): Promise<Caller> {
    const { authorization } = request.headers;
    const found = await access.authenticate({ socket: socketOf(request), authorization });
    if (found === undefined) throw new RefusedError(401, 'Unauthorized');
    if ('decision' in found) throw new RefusedError(503, found.message);
    return found;
  }

  return {
    async admit(request, route) {
      const caller = await callerOf(request);
      const { method, url } = request;
      const subresources = route === undefined ? subresourcesOfUnknown(url, routes) : subresourcesOf(route);
      const verb = verbOf(method, route);
      const verdict = await access.authorize(caller, { verb, subresources });
      if (verdict.decision === 'allow') return caller;
      const what = `user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`;
      if (verdict.decision === 'unknown')
        throw new RefusedError(503, `Authorization error (${what}): ${verdict.message}`);
      throw new RefusedError(403, `Forbidden (${what})`);
    },
  };
}

function socketOf(request: FastifyRequest): TLSSocket {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) return socket;
  throw new Error('a request came over a connection that is not TLS');
}
