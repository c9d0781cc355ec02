import type { IncomingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { agentClientUser, requesterHeader } from '../../api/index.ts';
import { reportAuthenticated } from '../../base/https/index.ts';
import type { Access, Caller } from './access/index.ts';
import { isAnonymous } from './access/index.ts';
import { RefusedError } from './refusal.ts';
import type { AgentRoute } from './route.ts';
import { subresourcesOf, subresourcesOfUnknown, verbOf } from './route.ts';

/**
 * Returns the caller of a request, if authorized; else throws a RefusedError: 401, 403, or 503 where that cannot be decided
 * now. It authorizes the route that was matched: the path is not parsed a second time, which could give another result.
 */
export async function admit(
  request: FastifyRequest,
  route: AgentRoute | undefined,
  { access, routes }: { access: Access; routes: readonly AgentRoute[] },
): Promise<Caller> {
  const caller = await authenticate(request, access);
  const { method, url } = request;
  const subresources = route === undefined ? subresourcesOfUnknown(url, routes) : subresourcesOf(route);
  const verb = verbOf(method, route);
  const verdict = await access.authorize(caller, { verb, subresources });
  if (verdict.decision === 'allow') return caller;
  const what = `user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`;
  if (verdict.decision === 'unknown')
    throw new RefusedError(503, `Authorization error (${what}): ${verdict.message}`);
  throw new RefusedError(403, `Forbidden (${what})`);
}

async function authenticate(request: FastifyRequest, access: Access): Promise<Caller> {
  const { authorization } = request.headers;
  const found = await access.authenticate({ socket: socketOf(request), authorization });
  if (found === undefined) throw new RefusedError(401, 'Unauthorized');
  if ('decision' in found) throw new RefusedError(503, found.message);
  if (!isAnonymous(found)) reportAuthenticated(socketOf(request));
  return found;
}

function socketOf(request: FastifyRequest): TLSSocket {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) return socket;
  throw new Error('a request came over a connection that is not TLS');
}

/** 256 characters, each of three bytes that are percent-encoded. */
const maxRequesterLength = 256 * 9;

/**
 * Returns the name to record for a request: the caller, or the user on whose behalf the control plane calls. The control
 * plane must have authenticated by its certificate, as others choose the names behind tokens. The result must not be used
 * for decisions.
 */
export function requesterOf(
  { name, authenticatedBy }: Pick<Caller, 'name' | 'authenticatedBy'>,
  headers: IncomingHttpHeaders,
): string {
  const user = headers[requesterHeader];
  if (name !== agentClientUser || authenticatedBy !== 'certificate') return name;
  if (typeof user !== 'string' || user === '' || user.length > maxRequesterLength) return name;
  try {
    return decodeURIComponent(user);
  } catch {
    return name;
  }
}
