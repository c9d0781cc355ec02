import type { FastifyReply } from 'fastify';
import type { AgentRequest, AgentRoute } from '../server/index.ts';
import { RefusedError, sendJson, sendText } from '../server/index.ts';
import type { CheckpointFailure, Target } from './errors.ts';
import { CheckpointError, shownTarget, wholePod } from './errors.ts';
import type { Operations } from './manage/index.ts';
import { operationPath } from './manage/index.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import type { CheckpointRequest } from './types.ts';

export interface CheckpointRoutesOptions {
  checkpointer: {
    checkpoint(request: CheckpointRequest): Promise<{ readonly path: string }>;
    /** Without it there is no route for whole pods. */
    checkpointPod?(request: PodCheckpointRequest): Promise<Pick<MadeSet, 'path' | 'checkpoints'>>;
  };
  /** Takes the requests that prefer not to wait; without it all wait. */
  operations?: Pick<Operations, 'begin'>;
  /** The gate ContainerCheckpoint. */
  enabled: boolean;
}

/**
 * `POST /checkpoint/{namespace}/{pod}/{container}?timeout=SECONDS` (specification, section 4.11), and without a container
 * for all that run in the pod.
 */
export function checkpointRoutes(options: CheckpointRoutesOptions): readonly AgentRoute[] {
  const { checkpointer, operations, enabled } = options;
  const off = enabled ? undefined : 'the feature gate ContainerCheckpoint is off';
  const whole = checkpointer.checkpointPod?.bind(checkpointer);
  const ofPods: AgentRoute[] =
    whole === undefined
      ? []
      : [
          {
            path: '/checkpoint/:namespace/:pod',
            subresource: 'checkpoint',
            methods: { POST: (request) => checkpointPod(request, whole) },
            off,
          },
        ];
  return [
    ...ofPods,
    {
      path: '/checkpoint/:namespace/:pod/:container',
      subresource: 'checkpoint',
      methods: {
        POST: (request) =>
          operations !== undefined && prefersAsync(request)
            ? begin(request, operations)
            : checkpoint(request, checkpointer),
      },
      off,
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
  const { requester, signal: cancel, stopping } = request;
  const target = targetOf(request);
  const timeoutMs = timeoutOf(request.query) * 1000;
  return await answer(request, target, async () => {
    const { path } = await checkpointer.checkpoint({ ...target, timeoutMs, cancel, stopping, requester });
    return { items: [path] };
  });
}

/** Answers with the paths of the archives and of the manifest, and never later: `Prefer` is not for it. */
async function checkpointPod(
  request: AgentRequest,
  checkpointWhole: (request: PodCheckpointRequest) => Promise<Pick<MadeSet, 'path' | 'checkpoints'>>,
): Promise<FastifyReply> {
  const { requester, signal: cancel, stopping } = request;
  const { namespace, pod } = targetOf(request);
  const timeoutMs = timeoutOf(request.query) * 1000;
  return await answer(request, wholePod(namespace, pod), async () => {
    const made = await checkpointWhole({ namespace, pod, timeoutMs, cancel, stopping, requester });
    return { items: made.checkpoints.map(({ path }) => path), manifest: made.path };
  });
}

async function answer(
  request: AgentRequest,
  target: Target,
  make: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<FastifyReply> {
  const { reply } = request;
  try {
    const made = JSON.stringify(await make());
    return reply.code(200).header('content-type', 'application/json').send(made);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    return sendText(reply, codes[error.reason] ?? 500, told(error, target, request));
  }
}

/** RFC 7240. */
function prefersAsync({ raw }: AgentRequest): boolean {
  const prefer = [raw.headers['prefer'] ?? []].flat().join(',');
  return prefer.split(',').some((text) => /^\s*respond-async\s*(?:;|$)/i.test(text));
}

/** Answers at once with where to look; the client's going away cancels nothing. */
function begin(request: AgentRequest, operations: Pick<Operations, 'begin'>): FastifyReply {
  const { requester, stopping, reply } = request;
  const target = targetOf(request);
  const operation = operations.begin({
    target,
    timeoutMs: timeoutOf(request.query) * 1000,
    requester,
    stopping,
    explain(error) {
      if (!(error instanceof CheckpointError)) return { code: 500, message: String(error) };
      return { code: codes[error.reason] ?? 500, message: told(error, target, request) };
    },
  });
  reply.header('location', operationPath(operation.id)).header('preference-applied', 'respond-async');
  return sendJson(reply, 202, operation);
}

/** To the checkpointer a cancelled request looks as if the client had gone; it is still there when the agent stops. */
function told(error: CheckpointError, target: Target, { stopping }: AgentRequest): string {
  if (error.reason !== 'cancelled' || !stopping.aborted) return error.message;
  return `checkpointing of ${shownTarget(target)} failed (the agent is being stopped)`;
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
