import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Pod, PodLogOptions } from '../../../api/index.ts';
import { podLogOptions, readLogOptions, StatusError } from '../../../api/index.ts';
import { allowStall } from '../../../base/https/index.ts';
import type { Clock } from '../../../base/index.ts';
import { errorCode } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute } from '../../server/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { HeldFolder } from '../logs/index.ts';
import { openFolderBelow, placeOfLog } from '../logs/index.ts';
import type { PodStatus } from '../status/index.ts';
import type { ContainerView, RuntimeView } from '../view/types.ts';
import { chooseContainer, hasContainer } from './choose.ts';
import type { LogQuery, LogSource } from './read-log.ts';
import { readLog } from './read-log.ts';

export interface LoggedPods {
  /** Undefined: no pod of this node. */
  find(namespace: string, name: string): Pod | undefined;
  /** As this agent has it. */
  statusOf(pod: Pod): PodStatus;
  readonly view: Pick<RuntimeView, 'pod' | 'onChange'>;
  readonly logsDir: string;
  /** How long a client may take nothing of a log; milliseconds. */
  stallMs(): number;
  readonly clock: Clock;
}

/**
 * `GET /containerLogs/{namespace}/{pod}/{container}`: what a container wrote, as text, with the parameters of the API's
 * pods/log. 400: the container has no log yet; 404: no such pod or container here; 422: parameters that make no sense.
 */
export function logRoutes(pods: LoggedPods): readonly AgentRoute[] {
  return [
    {
      path: '/containerLogs/:namespace/:pod/:container',
      subresource: 'proxy',
      methods: { GET: (request) => answerLog(pods, request) },
    },
  ];
}

async function answerLog(pods: LoggedPods, request: AgentRequest): Promise<FastifyReply> {
  const { params, reply, raw, signal } = request;
  const { namespace = '', pod: name = '', container = '' } = params;
  const options = readOptions(request.query);
  const pod = pods.find(namespace, name);
  if (pod === undefined) throw new RefusedError(404, `pod "${name}" does not exist`);
  if (!hasContainer(pod, container))
    throw new RefusedError(404, `container "${container}" not found in pod "${name}"`);
  const id = chooseContainer(name, container, pods.statusOf(pod), options.previous === true);
  const { folder, ...source } = await openLog(pods, pod, id);
  const query = toQuery(options, pods.clock.now());
  allowStall(raw.raw.socket, pods.stallMs());
  const pieces = wholeLog(readLog({ ...source, folder }, query, { clock: pods.clock, signal }), signal);
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: 0 });
  stream.once('close', () => void folder[Symbol.asyncDispose]());
  // the head of an answer that waits for what the container writes does not wait for that
  reply.raw.once('pipe', () => reply.raw.flushHeaders());
  return reply.header('content-type', 'text/plain; charset=utf-8').send(stream);
}

/** Fails at the end of one that is cut off because the agent stops, or its client would take that for the end of the log. */
async function* wholeLog(pieces: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield* pieces;
  signal.throwIfAborted();
}

function readOptions(query: URLSearchParams): PodLogOptions {
  if (query.get('tailLines') === null && query.has('tail')) query.set('tailLines', query.get('tail') ?? '');
  if (query.get('tailLines') === 'all') query.delete('tailLines');
  try {
    const options = readLogOptions(query);
    const [cause] = podLogOptions.validate(options, undefined);
    if (cause === undefined) return options;
    throw new RefusedError(422, `${cause.field === '' ? '' : `${cause.field}: `}${cause.message}`);
  } catch (error) {
    if (error instanceof StatusError) throw new RefusedError(error.code, error.message);
    throw error;
  }
}

function toQuery(options: PodLogOptions, nowMs: number): LogQuery {
  const { sinceSeconds, sinceTime, tailLines, limitBytes, stream } = options;
  return {
    hasTimestamps: options.timestamps === true,
    sinceMs: sinceSeconds === undefined ? timeOf(sinceTime) : nowMs - sinceSeconds * 1000,
    stream: stream === 'Stdout' || stream === 'Stderr' ? stream : 'All',
    tailRecords: tailLines,
    limitBytes,
    isFollowed: options.follow === true,
  };
}

const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

async function openLog({ view, logsDir }: LoggedPods, pod: Pod, id: string): Promise<LogSource> {
  const uid = pod.metadata?.uid ?? '';
  const find = (): ContainerView | undefined => view.pod(uid)?.containers.find((each) => each.id === id);
  const logPath = find()?.logPath ?? '';
  if (logPath === '') throw new RefusedError(400, `the runtime has no log of container ${id} any more`);
  const place = placeOfLog(logsDir, logPath);
  if (place === undefined)
    throw new RefusedError(400, `the log ${logPath} is not below ${logsDir} (podLogsDir)`);
  return {
    folder: await openFolder(logsDir, place.folders, logPath),
    log: place.log,
    hasEnded() {
      const { state } = find() ?? { state: 'exited' };
      return state === 'exited';
    },
    onChange: (listener) => view.onChange((changed) => changed === uid && listener()),
  };
}

async function openFolder(logsDir: string, folders: readonly string[], logPath: string): Promise<HeldFolder> {
  try {
    return await openFolderBelow(logsDir, folders);
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      throw new RefusedError(400, `the log ${logPath} is not there any more`);
    throw error;
  }
}
