import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Logger } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import { audited } from './audit.ts';
import type { Operations } from './operations.ts';
import { flagOf } from './selection.ts';

/** Where an operation is answered. */
export const operationPath = (id: string): string => `/checkpoints/operations/${id}`;

/** `GET` (with `?watch=true` a line of JSON for each change) and `DELETE /checkpoints/operations/{id}`. */
export function operationRoutes(operations: Operations, log: Logger): readonly AgentRoute[] {
  return [
    {
      path: operationPath(':id'),
      subresource: 'checkpoint',
      methods: {
        GET: audited(log, 'getOperation', (request) => show(operations, request)),
        DELETE: audited(log, 'cancelOperation', ({ params, requester, reply }) =>
          sendJson(reply, 200, operations.cancel(params['id'] ?? '', requester)),
        ),
      },
    },
  ];
}

function show(operations: Operations, { params, query, reply }: AgentRequest): FastifyReply {
  const id = params['id'] ?? '';
  const now = operations.get(id);
  if (flagOf(query, 'watch') !== true) return sendJson(reply, 200, now);
  // not the request's signal: whoever watches is told how the agent's stop has ended it
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  return reply
    .code(200)
    .header('content-type', 'application/json;stream=watch')
    .send(Readable.from(linesOf(operations, id, left.signal)));
}

async function* linesOf(operations: Operations, id: string, cancel: AbortSignal): AsyncGenerator<string> {
  for await (const shown of operations.watch(id, cancel)) yield `${JSON.stringify(shown)}\n`;
}
