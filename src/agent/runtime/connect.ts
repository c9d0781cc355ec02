import type { Clock, Logger } from '../../base/index.ts';
import { systemClock, untilAborted } from '../../base/index.ts';
import { openCgroups } from './cgroup.ts';
import { checkpointSafely } from './checkpoint.ts';
import { openConnection } from './connection.ts';
import { findDumpFolders } from './dump-folders.ts';
import { defaultEndpoints } from './endpoint.ts';
import { RuntimeError } from './errors.ts';
import { findContainer, findPodMembers } from './find.ts';
import { holdContainers } from './hold.ts';
import { watchImages } from './images.ts';
import { containerMemory, inspectContainer } from './memory.ts';
import { watchStatus } from './status.ts';
import { pauseTask, readTaskState, resumeTask } from './tasks.ts';
import type { Ending } from './thaw.ts';
import { proveRunning } from './thaw.ts';
import type { Runtime, TaskState, Thawed } from './types.ts';

export interface RuntimeOptions {
  /** Such as `unix:///run/containerd/containerd.sock`; without it the first of `defaults` that exists. */
  endpoint?: string | undefined;
  /** Where to look when no endpoint is given; default containerd's, CRI-O's and cri-dockerd's sockets. */
  defaults?: readonly string[];
  log: Logger;
  /** Default the system's. */
  clock?: Clock;
  /** The service of images; default the same. */
  imageEndpoint?: string | undefined;
  /** Between two queries of the images; default 30 s. */
  imageIntervalMs?: number;
  /** For calls that may take long; default 2 minutes (runtimeRequestTimeout). Checkpoints have none. */
  requestTimeoutMs?: number;
  /** Between two queries of the runtime's status; default 5 s. */
  statusIntervalMs?: number;
  /** For calls that a healthy runtime answers at once: status, task state, resume; default 5 s. */
  statusTimeoutMs?: number;
  /** How long to try to prove that a container runs after its checkpoint; default 60 s. */
  thawTimeoutMs?: number;
  /** How long a container must be observed running after an abandoned checkpoint; default 1.5 s. */
  settleMs?: number;
  /** The root of the file system, for the kernel's files; default `/`. */
  root?: string;
}

/**
 * Connects to the node's container runtime and stays connected: returns at once, whether or not there is one.
 * Throws an Error that says what is wrong when the endpoint is malformed. The caller disposes of it.
 */
export function connectRuntime(options: RuntimeOptions): Runtime & AsyncDisposable {
  const { log, clock = systemClock, requestTimeoutMs = 120_000, statusTimeoutMs = 5000 } = options;
  const { statusIntervalMs = 5000, thawTimeoutMs = 60_000, settleMs = 1500 } = options;
  const connection = openConnection(
    options.endpoint ? [options.endpoint] : (options.defaults ?? defaultEndpoints),
  );
  const root = options.root ?? '/';
  const cgroups = openCgroups(root);
  const statuses = watchStatus({
    connection,
    log,
    clock,
    intervalMs: statusIntervalMs,
    timeoutMs: statusTimeoutMs,
  });

  const imageConnection = options.imageEndpoint ? openConnection([options.imageEndpoint]) : connection;
  const images = watchImages({
    connection: imageConnection,
    log,
    clock,
    intervalMs: options.imageIntervalMs ?? 30_000,
    timeoutMs: statusTimeoutMs,
    onStatusChange: statuses.onChange,
  });

  const inspect = (id: string) => inspectContainer(connection, id, statusTimeoutMs);
  const resumedListeners = new Set<(id: string) => void>();
  const resumed = (id: string): void => {
    for (const listener of [...resumedListeners]) listener(id);
  };

  /** CRI reports a frozen container as running; without containerd's own service the kernel knows. */
  async function frozenInKernel(id: string): Promise<boolean> {
    const { pid } = await inspect(id);
    return pid !== undefined && (await cgroups.frozen(pid)) === true;
  }

  async function task(id: string): Promise<TaskState> {
    const { state, by } = await readTaskState(connection, id, statusTimeoutMs);
    return by === 'cri' && state === 'running' && (await frozenInKernel(id)) ? 'paused' : state;
  }
  const resume = (id: string): Promise<void> => resumeTask(connection, id, statusTimeoutMs);
  const closing = new AbortController();
  const prove = (id: string, ending: Ending, cancel = closing.signal): Promise<Thawed> => {
    const giveUp = AbortSignal.any([cancel, closing.signal]);
    const options = { resumed, clock, log, timeoutMs: thawTimeoutMs, settleMs };
    const calls = {
      task: (of: string) => unlessGivenUp(task(of), giveUp),
      resume: (of: string) => unlessGivenUp(resume(of), giveUp),
    };
    return proveRunning({ ...options, ...calls }, id, ending, giveUp);
  };
  const checkpointParts = { connection, task, prove, clock, openFreezer: cgroups.openFreezer };

  return {
    status: statuses.current,
    refresh: statuses.refresh,
    onStatusChange: statuses.onChange,
    images: images.current,
    onImagesChange: images.onChange,
    find: (namespace, pod, container, cancel) => {
      const options = { deadlineMs: requestTimeoutMs, ...(cancel ? { cancel } : {}) };
      return findContainer(connection, options, namespace, pod, container);
    },
    findPod: (namespace, pod, cancel) => {
      const options = { deadlineMs: requestTimeoutMs, ...(cancel ? { cancel } : {}) };
      return findPodMembers(connection, options, namespace, pod);
    },
    hold: () => {
      const pause = (id: string, cancel: AbortSignal) => pauseTask(connection, id, statusTimeoutMs, cancel);
      return holdContainers({ ...checkpointParts, pause, resume });
    },
    checkpoint: (id, file, cancel, hints) => checkpointSafely(checkpointParts, id, file, cancel, hints),
    thaw: (id, cancel) => prove(id, 'abandoned', cancel),
    task,
    resume,
    onResumed(listener) {
      resumedListeners.add(listener);
      return { [Symbol.dispose]: () => void resumedListeners.delete(listener) };
    },
    inspect,
    dumpFolders: findDumpFolders(connection, root, statusTimeoutMs),
    memoryBytes: async (id, pid) =>
      containerMemory(connection, cgroups, id, pid ?? (await inspect(id)).pid, statusTimeoutMs),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all([statuses, images].map((watch) => watch[Symbol.asyncDispose]()));
      connection[Symbol.dispose]();
      imageConnection[Symbol.dispose]();
    },
  };
}

/** Ends the wait when `giveUp` aborts: each call of a hanging runtime takes its whole timeout. */
async function unlessGivenUp<T>(call: Promise<T>, giveUp: AbortSignal): Promise<T> {
  const ended = new AbortController();
  const given = untilAborted(AbortSignal.any([giveUp, ended.signal])).then((): never => {
    throw new RuntimeError('cancelled', 'given up while the container runtime was asked');
  });
  try {
    return await Promise.race([call, given]);
  } finally {
    given.catch(() => undefined);
    ended.abort();
  }
}
