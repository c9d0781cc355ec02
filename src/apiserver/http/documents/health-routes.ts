import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../../api/index.ts';
import { authenticate } from '../admission/access.ts';
import type { HealthCheck } from '../health.ts';
import { reportHealth } from '../health.ts';
import type { HttpOptions } from '../options.ts';
import { queryOf } from '../routing/request.ts';
import type { DocumentRoute } from './route.ts';

/** `/healthz`, `/livez`, `/readyz` and a path for each of their checks. They need no credentials: load balancers have none. */
export function createHealthRoutes(options: HealthOptions): DocumentRoute[] {
  return ['healthz', 'livez', 'readyz'].flatMap((endpoint) => {
    const { checks } = options;
    const all = endpoint === 'livez' ? checks.filter(({ readyOnly }) => !readyOnly) : checks;
    return [
      createHealthRoute(endpoint, `/${endpoint}`, all, options),
      ...all.map((check) => createHealthRoute(endpoint, `/${endpoint}/${check.name}`, [check], options)),
    ];
  });
}

type HealthOptions = Pick<HttpOptions, 'checks' | 'log' | 'authenticator' | 'authorizer' | 'registry'>;

function createHealthRoute(
  endpoint: string,
  path: string,
  checks: readonly HealthCheck[],
  options: HealthOptions,
): DocumentRoute {
  return {
    path,
    open: true,
    async respond(request, reply) {
      const query = queryOf(request);
      const { ok, text, failures } = await reportHealth(endpoint, checks, {
        verbose: query.has('verbose'),
        exclude: query.getAll('exclude'),
        mayKnowWhy: (check) => mayGet(request, `/${endpoint}/${check}`, options),
      });
      if (!ok) options.log.warn({ failures }, `${endpoint} failed`);
      return reply
        .code(ok ? 200 : 500)
        .header('content-type', 'text/plain; charset=utf-8')
        .send(text);
    },
  };
}

/** Whether the caller is known and has the right to get this path; a report is for callers without credentials too. */
async function mayGet(request: FastifyRequest, path: string, options: HealthOptions): Promise<boolean> {
  try {
    const { user } = await authenticate(request, options);
    return (await options.authorizer.authorize(user, { verb: 'get', path })).verdict === 'allow';
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
