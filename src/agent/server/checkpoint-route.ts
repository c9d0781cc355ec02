import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Checkpointer, Target } from '../checkpoint/index.ts';
import { CheckpointError } from '../checkpoint/index.ts';
import type { Caller } from './access.ts';
import { RefusedError, sendText } from './refusal.ts';

export interface CheckpointRouteOptions {
  checkpointer: Pick<Checkpointer, 'checkpoint'>;
  /** Aborts when the agent stops: what is under way is cancelled. */
  stopping: AbortSignal;
}

const notFoundReasons: readonly string[] = ['noPod', 'noContainer'];

/**
 * `POST /checkpoint/{namespace}/{pod}/{container}?timeout=SECONDS` (specification, section 4.11): answers with the path
 * of the archive. The client's going away cancels, and so does the agent's stop.
 */
export async function checkpoint(
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  options: CheckpointRouteOptions,
): Promise<FastifyReply> {
  const target = targetOf(request);
  const timeoutMs = timeoutOf(request.url) * 1000;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  try {
    const cancel = AbortSignal.any([gone.signal, options.stopping]);
    const order = { ...target, timeoutMs, cancel, requester: caller.name };
    const { path } = await options.checkpointer.checkpoint(order);
    return reply
      .code(200)
      .header('content-type', 'application/json')
      .send(JSON.stringify({ items: [path] }));
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    return sendText(reply, notFoundReasons.includes(error.reason) ? 404 : 500, told(error, target, options));
  }
}

/** To the checkpointer a cancelled request looks as if the client had gone; it is still there when the agent stops. */
function told(error: CheckpointError, target: Target, { stopping }: CheckpointRouteOptions): string {
  if (error.reason !== 'cancelled' || !stopping.aborted) return error.message;
  const { namespace, pod, container } = target;
  return `checkpointing of ${namespace}/${pod}/${container} failed (the agent is being stopped)`;
}

/** As they stand in the path, decoded once; the checkpointer says which names there can be. */
function targetOf({ params }: FastifyRequest): Target {
  const part = (name: string) => {
    const value: unknown =
      typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { namespace: part('namespace'), pod: part('pod'), container: part('container') };
}

/** In seconds; 0 where none is given. Of several the last counts, as in the reference. */
function timeoutOf(url: string): number {
  const at = url.indexOf('?');
  const text = new URLSearchParams(at < 0 ? '' : url.slice(at + 1)).getAll('timeout').at(-1);
  if (text === undefined) return 0;
  if (/^\d{1,19}$/.test(text)) return Number(text);
  const shown = JSON.stringify(text.slice(0, 50));
  throw new RefusedError(400, `timeout must be a whole number of seconds, 0 or more, not ${shown}`);
}
