import type { Connection } from '../runtime/index.ts';
import {
  CriContainerState,
  defaultEndpoints,
  ImageService,
  openConnection,
  RuntimeError,
  RuntimeService,
  readTaskState,
} from '../runtime/index.ts';

/** What the container runtime has told when it was asked all that the checks want to know. */
export interface RuntimeAnswers {
  /** `unix:///path`; undefined where none is configured and none of the usual ones exists. */
  readonly endpoint: string | undefined;
  /** Why it could not be asked; everything below is then undefined. */
  readonly fault: RuntimeError | undefined;
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Those of its conditions that are not true. */
  readonly troubles: readonly { type: string; text: string }[] | undefined;
  readonly features: { recursiveReadOnly: boolean; userNamespaces: boolean } | undefined;
  /** `ok`, or why it cannot checkpoint. */
  readonly checkpoint: 'ok' | RuntimeError | undefined;
  /** Where it keeps images and containers, as it names the folder. */
  readonly folder: string | undefined;
}

export interface Frozen {
  /** Of running containers: `namespace/pod/container`, with the id. */
  readonly containers: readonly { name: string; id: string }[];
  readonly running: number;
  /** How many of them were looked at. */
  readonly seen: number;
}

export interface AskOptions {
  /** Empty or undefined: the first of the usual ones that exists. */
  endpoint: string | undefined;
  /** For each answer. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Asks in bounded time. Never rejects but when the endpoint is malformed. */
export async function askRuntime(options: AskOptions): Promise<RuntimeAnswers> {
  const { endpoint, timeoutMs: deadlineMs, signal: cancel } = options;
  using connection = openConnection(endpoint ? [endpoint] : defaultEndpoints);
  const call = { deadlineMs, cancel };
  try {
    const about = await connection.call(RuntimeService.method.version, {}, call);
    const [state, checkpoint, folder] = await Promise.all([
      connection.call(RuntimeService.method.status, {}, call),
      canCheckpoint(connection, deadlineMs, cancel),
      folderOf(connection, call),
    ]);
    return {
      endpoint: connection.endpoint,
      fault: undefined,
      name: about.runtimeName,
      version: about.runtimeVersion.split('+', 1)[0] ?? '',
      troubles: (state.status?.conditions ?? [])
        .filter(({ status }) => !status)
        .map(({ type, reason, message }) => ({ type, text: [reason, message].filter(Boolean).join(': ') })),
      features: {
        recursiveReadOnly: state.runtimeHandlers.some(({ features }) => features?.recursiveReadOnlyMounts),
        userNamespaces: state.runtimeHandlers.some(({ features }) => features?.userNamespaces),
      },
      checkpoint,
      folder,
    };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return { ...silent, endpoint: connection.endpoint ?? endpoint, fault: error };
  }
}

const silent: Omit<RuntimeAnswers, 'endpoint' | 'fault'> = {
  name: undefined,
  version: undefined,
  troubles: undefined,
  features: undefined,
  checkpoint: undefined,
  folder: undefined,
};

/** No runtime has a container of this id. */
const nobody = 'nodeward-doctor-no-such-container';

/**
 * Asks for the checkpoint of a container that does not exist: a runtime that can says only that it knows no such one,
 * and containerd looks for criu before. Nothing can be frozen by it; all the same it carries no deadline.
 */
async function canCheckpoint(
  connection: Connection,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<'ok' | RuntimeError> {
  const cancel = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const request = { containerId: nobody, location: '/nonexistent/nodeward-doctor.tar' };
    await connection.call(RuntimeService.method.checkpointContainer, request, { deadlineMs: null, cancel });
    return 'ok';
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return error.reason === 'notFound' || saysNotFound(error) ? 'ok' : error;
  }
}

/** CRI-O says so in words. */
function saysNotFound({ reason, message }: RuntimeError): boolean {
  return reason === 'failed' && message.includes(nobody) && /not found|could not find|no such/i.test(message);
}

type Call = { deadlineMs: number; cancel: AbortSignal };

/** Undefined where it does not tell. */
async function folderOf(connection: Connection, call: Call): Promise<string | undefined> {
  try {
    const { imageFilesystems } = await connection.call(ImageService.method.imageFsInfo, {}, call);
    return imageFilesystems[0]?.fsId?.mountpoint || undefined;
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

/** More are not looked at, one by one, by somebody who waits. */
const containersLimit = 500;

/** Which running containers are frozen, asked of containerd; rejects with a RuntimeError. */
export async function askFrozen(options: AskOptions): Promise<Frozen> {
  const { endpoint, timeoutMs: deadlineMs, signal: cancel } = options;
  using connection = openConnection(endpoint ? [endpoint] : defaultEndpoints);
  const call = { deadlineMs, cancel };
  const filter = { state: { state: CriContainerState.CONTAINER_RUNNING } };
  const { containers } = await connection.call(RuntimeService.method.listContainers, { filter }, call);
  const looked = containers.slice(0, containersLimit);
  const frozen: { name: string; id: string }[] = [];
  let seen = 0;
  for (const { id, labels, metadata } of looked) {
    const told = await readTaskState(connection, id, call.deadlineMs);
    if (told.by === 'cri') break; // another runtime: nothing of frozen containers can be told this way
    seen += 1;
    const pod = ['namespace', 'name'].map((part) => labels[`io.kubernetes.pod.${part}`] ?? '?');
    if (told.state === 'paused') frozen.push({ name: [...pod, metadata?.name ?? '?'].join('/'), id });
  }
  return { containers: frozen, running: containers.length, seen };
}
