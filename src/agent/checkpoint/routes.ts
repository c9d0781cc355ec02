import type { FastifyReply } from 'fastify';
import type { AgentRequest, AgentRoute } from '../server/index.ts';
import { RefusedError, sendJson, sendText } from '../server/index.ts';
import type { CheckpointFailure, Target } from './errors.ts';
import { CheckpointError, formatTarget, toPodTarget } from './errors.ts';
import type { Operations } from './manage/index.ts';
import { composeOperationPath } from './manage/index.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import type { CheckpointRequest } from './types.ts';

export interface CheckpointRoutesOptions {
  checkpointer: {
    checkpoint(request: CheckpointRequest): Promise<{ readonly path: string }>;
    /** Without it there is no route for whole pods. */
    checkpointPod?(request: PodCheckpointRequest): Promise<Pick<MadeSet, 'path' | 'checkpoints'>>;
  };
  /** Serves the requests with `Prefer: respond-async`; without it they are answered like all others. */
  operations?: Pick<Operations, 'begin'>;
  /** The feature gate ContainerCheckpoint. */
  enabled: boolean;
}

/**
 * `POST /checkpoint/{namespace}/{pod}/{container}?timeout=SECONDS` (specification, section 4.11); without a container it
 * checkpoints all running containers of the pod.
 */
export function createCheckpointRoutes(options: CheckpointRoutesOptions): readonly AgentRoute[] {
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
            ? beginOperation(request, operations)
            : checkpoint(request, checkpointer),
      },
      off,
    },
  ];
}

/** Failures that are not listed are 500. */
const statusCodes: Readonly<Partial<Record<CheckpointFailure, number>>> = {
  noPod: 404,
  noContainer: 404,
  conflict: 409,
};

/** Answers with the path of the archive. The checkpoint is cancelled when the client goes away or the agent stops. */
async function checkpoint(
  request: AgentRequest,
  checkpointer: CheckpointRoutesOptions['checkpointer'],
): Promise<FastifyReply> {
  const { requester, signal: cancel, stopping } = request;
  const target = readTarget(request);
  const timeoutMs = readTimeoutSeconds(request.query) * 1000;
  return await sendMade(request, target, async () => {
    const { path } = await checkpointer.checkpoint({ ...target, timeoutMs, cancel, stopping, requester });
    return { items: [path] };
  });
}

/** Answers with the paths of the archives and of the manifest. Ignores `Prefer: respond-async`. */
async function checkpointPod(
  request: AgentRequest,
  checkpointWhole: (request: PodCheckpointRequest) => Promise<Pick<MadeSet, 'path' | 'checkpoints'>>,
): Promise<FastifyReply> {
  const { requester, signal: cancel, stopping } = request;
  const { namespace, pod } = readTarget(request);
  const timeoutMs = readTimeoutSeconds(request.query) * 1000;
  return await sendMade(request, toPodTarget(namespace, pod), async () => {
    const made = await checkpointWhole({ namespace, pod, timeoutMs, cancel, stopping, requester });
    return { items: made.checkpoints.map(({ path }) => path), manifest: made.path };
  });
}

async function sendMade(
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
    return sendText(reply, statusCodes[error.reason] ?? 500, formatFailure(error, target, request));
  }
}

/** Whether a `Prefer` header has `respond-async` (RFC 7240). */
function prefersAsync({ raw }: AgentRequest): boolean {
  const prefer = [raw.headers['prefer'] ?? []].flat().join(',');
  return prefer.split(',').some((text) => /^\s*respond-async\s*(?:;|$)/i.test(text));
}

/** Answers at once with the path of the operation; it goes on when the client goes away. */
function beginOperation(request: AgentRequest, operations: Pick<Operations, 'begin'>): FastifyReply {
  const { requester, stopping, reply } = request;
  const target = readTarget(request);
  const operation = operations.begin({
    target,
    timeoutMs: readTimeoutSeconds(request.query) * 1000,
    requester,
    stopping,
    explain(error) {
      if (!(error instanceof CheckpointError)) return { code: 500, message: String(error) };
      return { code: statusCodes[error.reason] ?? 500, message: formatFailure(error, target, request) };
    },
  });
  reply.header('location', composeOperationPath(operation.id)).header('preference-applied', 'respond-async');
  return sendJson(reply, 202, operation);
}

/** For the checkpointer every cancelled request is one whose client went away; when the agent stops, the client is still there. */
function formatFailure(error: CheckpointError, target: Target, { stopping }: AgentRequest): string {
  if (error.reason !== 'cancelled' || !stopping.aborted) return error.message;
  return `checkpointing of ${formatTarget(target)} failed (the agent is being stopped)`;
}

/** The names in the path, decoded once; the checkpointer validates them. */
function readTarget({ params }: AgentRequest): Target {
  const { namespace = '', pod = '', container = '' } = params;
  return { namespace, pod, container };
}

/** 0 where none is given. The last of several counts, as in the reference. */
function readTimeoutSeconds(query: URLSearchParams): number {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined) return 0;
  if (/^\d{1,19}$/.test(text)) return Number(text);
  const given = JSON.stringify(text.slice(0, 50));
  throw new RefusedError(400, `timeout must be a whole number of seconds, 0 or more, not ${given}`);
}
