import type { FastifyReply, FastifyRequest } from 'fastify';
import { nodeKind, StatusError } from '../../api/index.ts';
import type { HttpsApp } from '../../base/https/index.ts';
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

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * `/api/v1/nodes/NAME/proxy/…`: authorized as nodes/proxy of that node, then forwarded to its agent. The requests are added
 * to `streams`, because their duration says nothing about this server.
 */
export function addNodeProxy(
  app: Pick<HttpsApp, 'register'>,
  proxy: NodeProxy,
  options: HttpOptions,
  { streams, counts }: { streams: WeakSet<FastifyRequest>; counts: RequestCounts },
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
    const asked = { ...place, verb: usualVerbOf(request.method) };
    const identity = await authenticate(request, options, () => attributesOf(asked));
    await authorizeRequest({ ...asked, user: identity.user }, options.authorizer, (attributes, decision) =>
      auditAsked(request, identity, attributes, decision),
    );
    if (!methods.includes(request.method)) throw methodNotAllowed(reply, methods);
    const { user, untilMs } = identity;
    const prefix = `/api/v1/nodes/${encodeURIComponent(named.name)}/proxy`;
    admitted.set(request, { named, target, prefix, requester: user.name, untilMs });
  }

  async function handler(request: FastifyRequest, reply: FastifyReply): Promise<undefined> {
    const asked = admitted.get(request);
    if (asked === undefined) throw new Error('a request came to its handler without being admitted');
    streams.add(request);
    const node = resource.encoding.read(resource.get('', asked.named.name));
    const onAnswer = (code: number) => {
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      auditStarted(request, code);
    };
    const { raw } = request;
    await proxy.pass({ ...asked, node, bodyLimitBytes, request: raw, response: reply.raw, onAnswer });
  }

  // bodies are forwarded as streams: no parser of this server reads them
  app.register(async (scope: HttpsApp) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const url of ['/api/v1/nodes/:name/proxy', '/api/v1/nodes/:name/proxy/*']) {
      scope.route({
        method: [...methods, 'TRACE'],
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
