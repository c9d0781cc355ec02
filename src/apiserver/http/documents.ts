import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate, authorizePath } from './access.ts';
import { sendJson } from './answer.ts';
import type { App } from './app.ts';
import { discovery } from './discovery.ts';
import type { HealthCheck } from './health.ts';
import { reportHealth } from './health.ts';
import { methodNotAllowed, routedMethods } from './methods.ts';
import type { HttpOptions } from './options.ts';
import { queryOf } from './request.ts';

/** The paths that are no objects of the API: health, version, discovery, metrics. */
export function addDocuments(app: Router, options: HttpOptions): void {
  addHealth(app, options);
  const { registry, advertised, metrics } = options;
  const kinds = registry.resources.map(({ kind }) => kind);
  for (const [path, document] of discovery(kinds, registry.groupSuffix, advertised).documents) {
    const body = Buffer.from(JSON.stringify(document));
    const access = path === '/version' ? openToAll : onlyFor(options);
    addDocument(app, path, access, (_request, reply) => sendJson(reply, 200, body));
  }
  addDocument(app, '/metrics', onlyFor(options), async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
  );
}

type Router = Pick<App, 'route'>;
type Access = (request: FastifyRequest) => Promise<void>;
type Respond = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

const served = ['GET', 'HEAD'];

function addDocument(app: Router, url: string, access: Access, respond: Respond): void {
  app.route({
    method: routedMethods,
    url,
    onRequest: async (request, reply) => {
      await access(request);
      if (!served.includes(request.method)) throw methodNotAllowed(reply, served);
    },
    handler: respond,
  });
}

/** What starts and balances servers has no credentials. */
const openToAll: Access = () => Promise.resolve();

/** Access for those who may do what they do with the path that they ask for. */
function onlyFor({ authenticator, authorizer }: HttpOptions): Access {
  return async (request) =>
    await authorizePath(request, authenticate(request, authenticator).user, authorizer);
}

function addHealth(app: Router, { checks, log }: HttpOptions): void {
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    const all = endpoint === 'livez' ? checks.filter(({ name }) => name !== 'shutdown') : checks;
    const respond =
      (chosen: readonly HealthCheck[]): Respond =>
      async (request, reply) => {
        const { ok, text, failures } = await reportHealth(endpoint, chosen, queryOf(request).has('verbose'));
        if (!ok) log.warn({ failures }, `${endpoint} failed`);
        return reply
          .code(ok ? 200 : 500)
          .header('content-type', 'text/plain; charset=utf-8')
          .send(text);
      };
    addDocument(app, `/${endpoint}`, openToAll, respond(all));
    for (const check of all) addDocument(app, `/${endpoint}/${check.name}`, openToAll, respond([check]));
  }
}
