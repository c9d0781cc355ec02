import type { FastifyRequest } from 'fastify';
import { StatusError, withoutGated } from '../../api/index.ts';
import type { HttpsApp } from '../../base/https/index.ts';
import { authenticate, authorizePath } from './admission/access.ts';
import { refuse } from './admission/refuse.ts';
import { createContent, sendContent } from './documents/content.ts';
import { createDiscoveryRoutes } from './documents/discovery-routes.ts';
import { createHealthRoutes } from './documents/health-routes.ts';
import { createOpenApiRoutes } from './documents/openapi-routes.ts';
import type { DocumentRoute } from './documents/route.ts';
import type { HttpOptions } from './options.ts';
import type { RequestCounts } from './request-counts.ts';
import { methodNotAllowed, routedMethods } from './routing/methods.ts';

/** Adds the paths outside of the API's objects: health, version, discovery, OpenAPI, metrics, and the list of them all. */
export function addDocuments(
  app: Pick<HttpsApp, 'route'>,
  options: HttpOptions,
  counts: RequestCounts,
): void {
  const { registry, metrics } = options;
  const kinds = registry.resources.map(({ kind }) => withoutGated(kind, registry.gates));
  const routes: DocumentRoute[] = [
    ...createHealthRoutes(options),
    ...createDiscoveryRoutes(kinds, registry.groupSuffix),
    ...createOpenApiRoutes(
      { kinds, groupSuffix: registry.groupSuffix },
      registry.gates.APIResponseCompression,
    ),
    {
      path: '/metrics',
      respond: async (_request, reply) =>
        reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
    },
    ...(options.documents ?? []),
  ];
  const all = [createIndexRoute(routes), ...routes];
  const served = new Map(all.flatMap((route) => namesOf(route)));
  const findRoute = (request: FastifyRequest) => served.get(readRoutedPath(request));
  const countOf = new Map(all.map((route) => [route, counts.of({ subresource: route.path })]));
  // registering each path with the router would take longer than the rest of the server's start
  app.route({
    method: routedMethods,
    url: '*',
    async onRequest(request, reply) {
      const route = findRoute(request);
      if (route === undefined) return reply.callNotFound();
      const { open, group, methods = usualMethods } = route;
      const notAllowed = () => methodNotAllowed(reply, methods);
      if (!open) await authorize(request, group, options);
      if (methods.includes(request.method)) return;
      if (open) await refuse(request, options, notAllowed);
      throw notAllowed();
    },
    handler: (request, reply) => findRoute(request)?.respond(request, reply) ?? reply.callNotFound(),
    onResponse(request, reply, done) {
      const route = findRoute(request);
      if (route !== undefined) countOf.get(route)?.(request, reply);
      done();
    },
  });
}

/** `/`: the list of the other paths. */
function createIndexRoute(routes: readonly DocumentRoute[]): DocumentRoute {
  const paths = routes.map(({ path }) => path).sort();
  const index = createContent('application/json', Buffer.from(JSON.stringify({ paths })));
  return { path: '/', respond: (request, reply) => sendContent(request, reply, index) };
}

const usualMethods = ['GET', 'HEAD'];

/** Both spellings of a path: generated clients request some of them with a slash at the end. */
function namesOf(route: DocumentRoute): (readonly [string, DocumentRoute])[] {
  const { path } = route;
  const exact: readonly [string, DocumentRoute] = [path, route];
  return path.endsWith('/') ? [exact] : [exact, [`${path}/`, route]];
}

/** The path as the router has decoded it. */
function readRoutedPath({ params }: FastifyRequest): string {
  const path: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, '*') : undefined;
  return typeof path === 'string' ? path : '';
}

/** Throws 401 or 403 unless the caller may use this method on this path and is in the group, if there is one. */
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
