import type { HealthCheck } from '../health.ts';
import { reportHealth } from '../health.ts';
import type { HttpOptions } from '../options.ts';
import { queryOf } from '../routing/request.ts';
import type { DocumentRoute } from './route.ts';

/** `/healthz`, `/livez`, `/readyz` and a path for each of their checks. They need no credentials: load balancers have none. */
export function createHealthRoutes(options: Pick<HttpOptions, 'checks' | 'log'>): DocumentRoute[] {
  return ['healthz', 'livez', 'readyz'].flatMap((endpoint) => {
    const { checks } = options;
    const all = endpoint === 'livez' ? checks.filter(({ readyOnly }) => !readyOnly) : checks;
    return [
      createHealthRoute(endpoint, `/${endpoint}`, all, options),
      ...all.map((check) => createHealthRoute(endpoint, `/${endpoint}/${check.name}`, [check], options)),
    ];
  });
}

function createHealthRoute(
  endpoint: string,
  path: string,
  checks: readonly HealthCheck[],
  { log }: Pick<HttpOptions, 'log'>,
): DocumentRoute {
  return {
    path,
    open: true,
    async respond(request, reply) {
      const { ok, text, failures } = await reportHealth(endpoint, checks, queryOf(request).has('verbose'));
      if (!ok) log.warn({ failures }, `${endpoint} failed`);
      return reply
        .code(ok ? 200 : 500)
        .header('content-type', 'text/plain; charset=utf-8')
        .send(text);
    },
  };
}
