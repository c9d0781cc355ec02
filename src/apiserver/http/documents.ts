import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../api/index.ts';
import { authenticate, authorizePath } from './access.ts';
import type { App } from './app.ts';
import { plainContent, sendContent } from './documents/content.ts';
import { discoveryRoutes } from './documents/discovery-routes.ts';
import { healthRoutes } from './documents/health-routes.ts';
import { openApiRoutes } from './documents/openapi-routes.ts';
import type { DocumentRoute } from './documents/route.ts';
import { methodNotAllowed, routedMethods } from './methods.ts';
import type { HttpOptions } from './options.ts';

/** The paths that are no objects of the API: health, version, discovery, OpenAPI, metrics, and the list of them. */
export function addDocuments(app: Pick<App, 'route'>, options: HttpOptions): void {
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
  const all = [indexRoute(routes), ...routes];
  for (const route of all) addRoute(app, route, options);
}

/** `/`: what else there is. */
function indexRoute(routes: readonly DocumentRoute[]): DocumentRoute {
  const paths = routes.map(({ path }) => path).sort();
  const index = plainContent('application/json', Buffer.from(JSON.stringify({ paths })));
  return { path: '/', respond: (request, reply) => sendContent(request, reply, index) };
}

const usualMethods = ['GET', 'HEAD'];

/** Generated clients ask for some of them with a slash at the end. */
function addRoute(
  app: Pick<App, 'route'>,
  { path, open, group, methods = usualMethods, respond }: DocumentRoute,
  options: HttpOptions,
): void {
  for (const url of path.endsWith('/') ? [path] : [path, `${path}/`]) {
    app.route({
      method: routedMethods,
      url,
      onRequest: async (request, reply) => {
        if (!open) await authorize(request, group, options);
        if (!methods.includes(request.method)) throw methodNotAllowed(reply, methods);
      },
      handler: respond,
    });
  }
}

/** Access for those who may do what they do with the path that they ask for. */
async function authorize(
  request: FastifyRequest,
  group: string | undefined,
  { authenticator, authorizer }: HttpOptions,
): Promise<void> {
  const { user } = await authenticate(request, authenticator);
  await authorizePath(request, user, authorizer);
  if (group === undefined || user.groups.includes(group)) return;
  throw new StatusError('Forbidden', `forbidden: only members of ${group} may use this path`);
}
