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
        mayKnowWhy: () => mayGetMetrics(request, options),
      });
      if (!ok) options.log.warn({ failures }, `${endpoint} failed`);
      return reply
        .code(ok ? 200 : 500)
        .header('content-type', 'text/plain; charset=utf-8')
        .send(text);
    },
  };
}

/**
 * Whether the caller may know more of the server than that a check fails: who may get its metrics. The paths of health are
 * for callers without credentials too, and those of single checks for everybody who is authenticated.
 */
async function mayGetMetrics(request: FastifyRequest, options: HealthOptions): Promise<boolean> {
  try {
    const { user } = await authenticate(request, options);
    const decision = await options.authorizer.authorize(user, { verb: 'get', path: '/metrics' });
    return decision.verdict === 'allow';
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
