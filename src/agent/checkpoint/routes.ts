import type { FastifyReply } from 'fastify';
import type { AgentRequest, AgentRoute } from '../server/index.ts';
import { RefusedError, sendText } from '../server/index.ts';
import type { CheckpointRequest } from './checkpointer.ts';
import type { CheckpointFailure, Target } from './errors.ts';
import { CheckpointError } from './errors.ts';

export interface CheckpointRoutesOptions {
  checkpointer: { checkpoint(request: CheckpointRequest): Promise<{ readonly path: string }> };
  /** The gate ContainerCheckpoint. */
  enabled: boolean;
}

/** `POST /checkpoint/{namespace}/{pod}/{container}?timeout=SECONDS` (specification, section 4.11). */
export function checkpointRoutes({ checkpointer, enabled }: CheckpointRoutesOptions): readonly AgentRoute[] {
  return [
    {
      path: '/checkpoint/:namespace/:pod/:container',
      subresource: 'checkpoint',
      methods: { POST: (request) => checkpoint(request, checkpointer) },
      off: enabled ? undefined : 'the feature gate ContainerCheckpoint is off',
    },
  ];
}

/** All others are 500. */
const codes: Readonly<Partial<Record<CheckpointFailure, number>>> = {
  noPod: 404,
  noContainer: 404,
  conflict: 409,
};

/** Answers with the path of the archive. The client's going away cancels, and so does the agent's stop. */
async function checkpoint(
  request: AgentRequest,
  checkpointer: CheckpointRoutesOptions['checkpointer'],
): Promise<FastifyReply> {
  const { caller, signal: cancel, reply } = request;
  const target = targetOf(request);
  const timeoutMs = timeoutOf(request.query) * 1000;
  try {
    const { path } = await checkpointer.checkpoint({ ...target, timeoutMs, cancel, requester: caller.name });
    return reply
      .code(200)
      .header('content-type', 'application/json')
      .send(JSON.stringify({ items: [path] }));
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    return sendText(reply, codes[error.reason] ?? 500, told(error, target, request));
  }
}

/** To the checkpointer a cancelled request looks as if the client had gone; it is still there when the agent stops. */
function told(error: CheckpointError, target: Target, { stopping }: AgentRequest): string {
  if (error.reason !== 'cancelled' || !stopping.aborted) return error.message;
  const { namespace, pod, container } = target;
  return `checkpointing of ${namespace}/${pod}/${container} failed (the agent is being stopped)`;
}

/** As they stand in the path, decoded once; the checkpointer says which names there can be. */
function targetOf({ params }: AgentRequest): Target {
  const { namespace = '', pod = '', container = '' } = params;
  return { namespace, pod, container };
}

/** In seconds; 0 where none is given. Of several the last counts, as in the reference. */
function timeoutOf(query: URLSearchParams): number {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined) return 0;
  if (/^\d{1,19}$/.test(text)) return Number(text);
  const shown = JSON.stringify(text.slice(0, 50));
  throw new RefusedError(400, `timeout must be a whole number of seconds, 0 or more, not ${shown}`);
}
