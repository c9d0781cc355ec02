import type { Registry } from '../../base/index.ts';
import type { AgentRoute } from './route.ts';

/** `/metrics`: the agent's figures in the text format of Prometheus. */
export function metricsRoute(metrics: Registry): AgentRoute {
  return {
    path: '/metrics',
    subresource: 'metrics',
    methods: {
      GET: async ({ reply }) =>
        reply.header('content-type', metrics.contentType).send(await metrics.metrics()),
    },
  };
}
