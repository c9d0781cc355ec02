import { agentAnnotation } from '../pods/index.ts';
import type { Connection } from '../runtime/index.ts';
import {
  CriCgroupDriver,
  CriContainerState,
  defaultEndpoints,
  ImageService,
  openConnection,
  RuntimeError,
  RuntimeService,
  readTaskState,
} from '../runtime/index.ts';

/** The container runtime's answers to everything that the checks ask. */
export interface RuntimeReport {
  /** `unix:///path`; undefined where none is configured and none of the default ones exists. */
  readonly endpoint: string | undefined;
  /** Why it could not be queried; everything below is then undefined. */
  readonly fault: RuntimeError | undefined;
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Its conditions that are not true. */
  readonly troubles: readonly { type: string; text: string }[] | undefined;
  readonly features: { recursiveReadOnly: boolean; userNamespaces: boolean } | undefined;
  /** `ok`, or why it cannot checkpoint. */
  readonly checkpoint: 'ok' | RuntimeError | undefined;
  /** Who makes its cgroups; undefined where it does not tell. */
  readonly cgroupDriver: 'systemd' | 'cgroupfs' | undefined;
  /** The folder of its images and containers, as the runtime names it. */
  readonly folder: string | undefined;
}

export interface FrozenContainers {
  /** The running containers that are frozen; `name` is `namespace/pod/container`. */
  readonly containers: readonly { name: string; id: string }[];
  readonly running: number;
  /** How many of the running ones were inspected. */
  readonly inspected: number;
}

interface QueryOptions {
  /** Empty or undefined: the first of the default ones that exists. */
  endpoint: string | undefined;
  /** For each call. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Takes bounded time. Rejects only when the endpoint is malformed. */
export async function queryRuntime(options: QueryOptions): Promise<RuntimeReport> {
  const { endpoint, timeoutMs: deadlineMs, signal: cancel } = options;
  using connection = openConnection(endpoint ? [endpoint] : defaultEndpoints);
  const call = { deadlineMs, cancel };
  try {
    const about = await connection.call(RuntimeService.method.version, {}, call);
    const [state, checkpoint, folder, cgroupDriver] = await Promise.all([
      connection.call(RuntimeService.method.status, {}, call),
      canCheckpoint(connection, deadlineMs, cancel),
      readImageFolder(connection, call),
      readCgroupDriver(connection, call),
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
      cgroupDriver,
      folder,
    };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return { ...emptyReport, endpoint: connection.endpoint ?? endpoint, fault: error };
  }
}

const emptyReport: Omit<RuntimeReport, 'endpoint' | 'fault'> = {
  name: undefined,
  version: undefined,
  troubles: undefined,
  features: undefined,
  checkpoint: undefined,
  cgroupDriver: undefined,
  folder: undefined,
};

/** No runtime has a container of this id. */
const absentContainerId = 'nodeward-doctor-no-such-container';

/**
 * Requests the checkpoint of a container that does not exist: a runtime that can checkpoint only reports that there is
 * no such container, and containerd looks for criu first. Nothing can be frozen by this; even so the call carries no deadline.
 */
async function canCheckpoint(
  connection: Connection,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<'ok' | RuntimeError> {
  const cancel = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const request = { containerId: absentContainerId, location: '/nonexistent/nodeward-doctor.tar' };
    await connection.call(RuntimeService.method.checkpointContainer, request, { deadlineMs: null, cancel });
    return 'ok';
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return error.reason === 'notFound' || isNotFound(error) ? 'ok' : error;
  }
}

/** CRI-O reports this as a failure with a text, not with the code NOT_FOUND. */
function isNotFound({ reason, message }: RuntimeError): boolean {
  return (
    reason === 'failed' &&
    message.includes(absentContainerId) &&
    /not found|could not find|no such/i.test(message)
  );
}

type Call = { deadlineMs: number; cancel: AbortSignal };

/** Undefined where the runtime does not report it. */
async function readCgroupDriver(connection: Connection, call: Call): Promise<RuntimeReport['cgroupDriver']> {
  try {
    const { linux } = await connection.call(RuntimeService.method.runtimeConfig, {}, call);
    if (linux === undefined) return undefined;
    return linux.cgroupDriver === CriCgroupDriver.CGROUPFS ? 'cgroupfs' : 'systemd';
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

/** Undefined where the runtime does not report it. */
async function readImageFolder(connection: Connection, call: Call): Promise<string | undefined> {
  try {
    const { imageFilesystems } = await connection.call(ImageService.method.imageFsInfo, {}, call);
    return imageFilesystems[0]?.fsId?.mountpoint || undefined;
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

/** Containers are inspected one by one while the operator waits, so no more than these. */
const maxContainers = 500;

/** The running containers that containerd reports as paused; rejects with a RuntimeError. */
export async function findFrozenContainers(options: QueryOptions): Promise<FrozenContainers> {
  const { endpoint, timeoutMs: deadlineMs, signal: cancel } = options;
  using connection = openConnection(endpoint ? [endpoint] : defaultEndpoints);
  const call = { deadlineMs, cancel };
  const filter = { state: { state: CriContainerState.CONTAINER_RUNNING } };
  const { containers } = await connection.call(RuntimeService.method.listContainers, { filter }, call);
  const candidates = containers.slice(0, maxContainers);
  const frozen: { name: string; id: string }[] = [];
  let inspected = 0;
  for (const { id, labels, metadata } of candidates) {
    const task = await readTaskState(connection, id, call.deadlineMs);
    if (task.by === 'cri') break; // not containerd: CRI has no state for a frozen container
    inspected += 1;
    const pod = ['namespace', 'name'].map((part) => labels[`io.kubernetes.pod.${part}`] ?? '?');
    if (task.state === 'paused') frozen.push({ name: [...pod, metadata?.name ?? '?'].join('/'), id });
  }
  return { containers: frozen, running: containers.length, inspected };
}

/** How many sandboxes each agent has in the runtime, by the mark that it left on them; those without one are left out. */
export async function countSandboxes(options: QueryOptions): Promise<ReadonlyMap<string, number>> {
  const { endpoint, timeoutMs: deadlineMs, signal: cancel } = options;
  using connection = openConnection(endpoint ? [endpoint] : defaultEndpoints);
  const { items } = await connection.call(RuntimeService.method.listPodSandbox, {}, { deadlineMs, cancel });
  const counts = new Map<string, number>();
  for (const { annotations } of items) {
    const mark = annotations[agentAnnotation];
    if (mark !== undefined) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
}
