import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Logger } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import { withAudit } from './audit.ts';
import type { Operations } from './operations.ts';
import { readFlag } from './selection.ts';

/** The path of an operation. */
export const composeOperationPath = (id: string): string => `/checkpoints/operations/${id}`;

/** `GET` (with `?watch=true` a line of JSON for each change) and `DELETE /checkpoints/operations/{id}`. */
export function createOperationRoutes(operations: Operations, log: Logger): readonly AgentRoute[] {
  return [
    {
      path: composeOperationPath(':id'),
      subresource: 'checkpoint',
      methods: {
        GET: withAudit(log, 'getOperation', (request) => sendOperation(operations, request)),
        DELETE: withAudit(log, 'cancelOperation', ({ params, requester, reply }) =>
          sendJson(reply, 200, operations.cancel(params['id'] ?? '', requester)),
        ),
      },
    },
  ];
}

function sendOperation(operations: Operations, { params, query, reply }: AgentRequest): FastifyReply {
  const id = params['id'] ?? '';
  const now = operations.get(id);
  if (readFlag(query, 'watch') !== true) return sendJson(reply, 200, now);
  // not the request's signal: when the agent stops, the watching client still gets the last state of the operation
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  return reply
    .code(200)
    .header('content-type', 'application/json;stream=watch')
    .send(Readable.from(streamLines(operations, id, left.signal)));
}

async function* streamLines(operations: Operations, id: string, cancel: AbortSignal): AsyncGenerator<string> {
  for await (const state of operations.watch(id, cancel)) yield `${JSON.stringify(state)}\n`;
}
