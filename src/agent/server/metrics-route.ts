import type { MetricsRegistry } from '../../base/index.ts';
import type { AgentRoute } from './route.ts';

/** `/metrics`: the agent's metrics in the text format of Prometheus. */
export function metricsRoute(metrics: MetricsRegistry): AgentRoute {
  return {
    path: '/metrics',
    subresource: 'metrics',
    methods: {
      GET: async ({ reply }) =>
        reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
    },
  };
}
