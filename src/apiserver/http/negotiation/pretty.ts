import type { FastifyRequest } from 'fastify';
import { queryOf } from '../routing/request.ts';

const trueTexts = ['', '1', 't', 'true'];
/** User agents that people use directly, as in the reference. */
const interactiveAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

/**
 * Whether JSON is indented for people: by the parameter `pretty` (any value but a true one means no), or without it by the
 * media type, or because curl, wget or a browser asks.
 */
export function isPretty(request: FastifyRequest, byMediaType: boolean): boolean {
  const parameter = request.url.includes('pretty') ? queryOf(request).get('pretty') : null;
  if (parameter !== null) return trueTexts.includes(parameter.toLowerCase());
  return byMediaType || interactiveAgents.test(request.headers['user-agent'] ?? '');
}
