import type { FastifyReply } from 'fastify';
import type { HealthCheck } from './health.ts';
import { healthAsked, reportHealth } from './health.ts';
import { RefusedError, sendText } from './refusal.ts';
import type { AgentRequest, AgentRoute } from './route.ts';

/** `/healthz` with all checks, and `/healthz/NAME` for one. Of those who may ask, each is told why. */
export function healthRoutes(checks: readonly HealthCheck[]): readonly AgentRoute[] {
  function answer({ reply, query }: AgentRequest, chosen: readonly HealthCheck[]): FastifyReply {
    const { healthy, text } = reportHealth(chosen, healthAsked(query, true));
    return sendText(reply, healthy ? 200 : 500, text);
  }

  function answerOne(request: AgentRequest): FastifyReply {
    const chosen = checks.filter(({ name }) => name === request.params['check']);
    if (chosen.length === 0) throw new RefusedError(404, '404 page not found');
    return answer(
      request,
      chosen.map((check) => ({ ...check, ofPeer: false })),
    );
  }

  return [
    { path: '/healthz', subresource: 'healthz', methods: { GET: (request) => answer(request, checks) } },
    { path: '/healthz/:check', subresource: 'healthz', methods: { GET: answerOne } },
  ];
}
