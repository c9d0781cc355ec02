import type { FastifyReply, FastifyRequest } from 'fastify';
import { nodeKind, StatusError } from '../../api/index.ts';
import type { Declined, HttpsApp } from '../../base/https/index.ts';
import { upgradeOf } from '../../base/https/index.ts';
import type { Carried } from '../../base/streams/index.ts';
import type { NodeProxy, ProxiedRequest } from '../node-proxy/index.ts';
import { readNodeName, readProxiedPath } from '../node-proxy/index.ts';
import { attributesOf, authenticate, authorizeRequest } from './admission/access.ts';
import { auditAsked, auditStarted } from './admission/audit.ts';
import { refuse } from './admission/refuse.ts';
import { bodyLimitBytes } from './errors.ts';
import type { HttpOptions } from './options.ts';
import type { RequestCounts } from './request-counts.ts';
import { methodNotAllowed, usualVerbOf } from './routing/methods.ts';

type Asked = Pick<ProxiedRequest, 'named' | 'target' | 'prefix' | 'requester' | 'untilMs'>;

export const proxiedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

interface NodeProxyParts {
  readonly streams: WeakSet<FastifyRequest>;
  readonly counts: RequestCounts;
  /** Aborts when this server stops. */
  readonly stopping: AbortSignal;
}

const carriedBy = (target: string): Carried => (/^\/portForward\//.test(target) ? 'ports' : 'command');

/**
 * `/api/v1/nodes/NAME/proxy/…`: authorized as nodes/proxy of that node, then forwarded to its agent. The requests are added
 * to `streams`, because their duration says nothing about this server.
 */
export function addNodeProxy(
  app: Pick<HttpsApp, 'register'>,
  proxy: NodeProxy,
  options: HttpOptions,
  { streams, counts, stopping }: NodeProxyParts,
): void {
  const count = counts.of({ version: 'v1', resource: 'nodes', subresource: 'proxy' }, 'resource');
  const resource = options.registry.of(nodeKind);
  const admitted = new WeakMap<FastifyRequest, Asked>();

  async function readProxied(request: FastifyRequest): Promise<Pick<Asked, 'named' | 'target'>> {
    try {
      const { node, target } = readProxiedPath(request.url);
      return { named: readNodeName(node), target };
    } catch (error) {
      if (error instanceof StatusError) return await refuse(request, options, () => error);
      throw error;
    }
  }

  async function onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { named, target } = await readProxied(request);
    const place = { resource, subresource: 'proxy', namespace: '', name: named.name };
    // a stream into a pod begins only with the right to create it, also one that begins with GET
    const verb = upgradeOf(request.raw) === undefined ? usualVerbOf(request.method) : 'create';
    const asked = { ...place, verb };
    const identity = await authenticate(request, options, () => attributesOf(asked));
    await authorizeRequest({ ...asked, user: identity.user }, options.authorizer, (attributes, decision) =>
      auditAsked(request, identity, attributes, decision),
    );
    if (!proxiedMethods.includes(request.method)) throw methodNotAllowed(reply, proxiedMethods);
    const { user, untilMs } = identity;
    const prefix = `/api/v1/nodes/${encodeURIComponent(named.name)}/proxy`;
    admitted.set(request, { named, target, prefix, requester: user.name, untilMs });
  }

  async function handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const asked = admitted.get(request);
    if (asked === undefined) throw new Error('a request came to its handler without being admitted');
    streams.add(request);
    const node = resource.encoding.read(resource.get('', asked.named.name));
    const passed = { ...asked, ...answering(request, reply), node };
    const upgrade = upgradeOf(request.raw);
    if (upgrade !== undefined)
      return declinedTo(
        reply,
        await proxy.join({ ...passed, upgrade, stopping, carried: carriedBy(asked.target), web: undefined }),
      );
    await proxy.pass({ ...passed, bodyLimitBytes });
    return undefined;
  }

  passBodies(app, (scope) => {
    for (const url of ['/api/v1/nodes/:name/proxy', '/api/v1/nodes/:name/proxy/*']) {
      scope.route({
        method: [...proxiedMethods, 'TRACE'],
        url,
        onRequest,
        handler,
        onResponse(request, reply, done) {
          count(request, reply);
          done();
        },
      });
    }
  });
}

/** Routes whose bodies no parser of this server reads: they are forwarded as streams. */
export function passBodies(
  app: Pick<HttpsApp, 'register'>,
  addTo: (scope: Pick<HttpsApp, 'route'>) => void,
): void {
  app.register(async (scope: HttpsApp) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    addTo(scope);
  });
}

/** Sends what was answered instead of an upgrade; undefined: there was one. */
export function declinedTo(reply: FastifyReply, declined: Declined | undefined): FastifyReply | undefined {
  if (declined === undefined) return undefined;
  return reply
    .code(declined.code)
    .headers({ 'content-type': declined.contentType, 'x-content-type-options': 'nosniff' })
    .header('content-security-policy', 'sandbox')
    .send(declined.text);
}

/** What of a request is the same wherever it is forwarded to: its messages, and that its answer has begun. */
export function answering(
  request: FastifyRequest,
  reply: FastifyReply,
): Pick<ProxiedRequest, 'request' | 'response' | 'onAnswer'> {
  return {
    request: request.raw,
    response: reply.raw,
    onAnswer(code) {
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      auditStarted(request, code);
    },
  };
}
