import type { FastifyRequest } from 'fastify';
import { queryOf } from '../routing/request.ts';

const trueTexts = ['', '1', 't', 'true'];
/** What people look at answers with, as the reference has it. */
const peoplesAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

/**
 * Whether JSON is indented for people: the parameter `pretty` says so (what is no truth is no wish), or without it
 * the media type, or that curl, wget or a browser asks.
 */
export function isPretty(request: FastifyRequest, byMediaType: boolean): boolean {
  const wish = request.url.includes('pretty') ? queryOf(request).get('pretty') : null;
  if (wish !== null) return trueTexts.includes(wish.toLowerCase());
  return byMediaType || peoplesAgents.test(request.headers['user-agent'] ?? '');
}
