import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../api/index.ts';
import type { HttpsApp } from '../../base/https/index.ts';
import { authenticate, authorizePath } from './admission/access.ts';
import { plainContent, sendContent } from './documents/content.ts';
import { discoveryRoutes } from './documents/discovery-routes.ts';
import { healthRoutes } from './documents/health-routes.ts';
import { openApiRoutes } from './documents/openapi-routes.ts';
import type { DocumentRoute } from './documents/route.ts';
import type { HttpOptions } from './options.ts';
import { methodNotAllowed, routedMethods } from './routing/methods.ts';

/** The paths that are no objects of the API: health, version, discovery, OpenAPI, metrics, and the list of them. */
export function addDocuments(app: Pick<HttpsApp, 'route'>, options: HttpOptions): void {
  const { registry, metrics } = options;
  const kinds = registry.resources.map(({ kind }) => kind);
  const routes: DocumentRoute[] = [
    ...healthRoutes(options),
    ...discoveryRoutes(kinds, registry.groupSuffix),
    ...openApiRoutes({ kinds, groupSuffix: registry.groupSuffix }, registry.gates.APIResponseCompression),
    {
      path: '/metrics',
      respond: async (_request, reply) =>
        reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
    },
    ...(options.documents ?? []),
  ];
  const served = new Map([indexRoute(routes), ...routes].flatMap((route) => namesOf(route)));
  const found = (request: FastifyRequest) => served.get(pathIn(request));
  // a route for each would take the router longer than all the rest of the server's start
  app.route({
    method: routedMethods,
    url: '*',
    async onRequest(request, reply) {
      const route = found(request);
      if (route === undefined) return reply.callNotFound();
      const { open, group, methods = usualMethods } = route;
      if (!open) await authorize(request, group, options);
      if (!methods.includes(request.method)) throw methodNotAllowed(reply, methods);
    },
    handler: (request, reply) => found(request)?.respond(request, reply) ?? reply.callNotFound(),
  });
}

/** `/`: what else there is. */
function indexRoute(routes: readonly DocumentRoute[]): DocumentRoute {
  const paths = routes.map(({ path }) => path).sort();
  const index = plainContent('application/json', Buffer.from(JSON.stringify({ paths })));
  return { path: '/', respond: (request, reply) => sendContent(request, reply, index) };
}

const usualMethods = ['GET', 'HEAD'];

/** Generated clients ask for some of them with a slash at the end. */
function namesOf(route: DocumentRoute): (readonly [string, DocumentRoute])[] {
  const { path } = route;
  const named: readonly [string, DocumentRoute] = [path, route];
  return path.endsWith('/') ? [named] : [named, [`${path}/`, route]];
}

/** As the router has read it, without what is encoded in it. */
function pathIn({ params }: FastifyRequest): string {
  const path: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, '*') : undefined;
  return typeof path === 'string' ? path : '';
}

/** Access for those who may do what they do with the path that they ask for. */
async function authorize(
  request: FastifyRequest,
  group: string | undefined,
  options: HttpOptions,
): Promise<void> {
  const identity = await authenticate(request, options);
  await authorizePath(request, identity, options.authorizer);
  if (group === undefined || identity.user.groups.includes(group)) return;
  throw new StatusError('Forbidden', `forbidden: only members of ${group} may use this path`);
}
