import type { Clock, Logger } from '../../base/index.ts';
import { systemClock } from '../../base/index.ts';
import { openCgroups } from './cgroup.ts';
import { checkpointSafely } from './checkpoint.ts';
import { openConnection } from './connection.ts';
import { defaultEndpoints } from './endpoint.ts';
import { findContainer } from './find.ts';
import { containerMemory, containerPid } from './memory.ts';
import { watchStatus } from './status.ts';
import { resumeTask, taskState } from './tasks.ts';
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
  /** For calls that may take long; default 2 minutes (runtimeRequestTimeout). Checkpoints have none. */
  requestTimeoutMs?: number;
  /** Between two looks at the runtime's status; default 5 s. */
  statusIntervalMs?: number;
  /** For calls that a healthy runtime answers at once: status, task state, resume; default 5 s. */
  statusTimeoutMs?: number;
  /** How long to try to prove that a container runs after its checkpoint; default 60 s. */
  thawTimeoutMs?: number;
  /** How long a container must be seen running after a checkpoint that was abandoned; default 1.5 s. */
  settleMs?: number;
  /** The root of the file system, for the kernel's figures; default `/`. */
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
  const cgroups = openCgroups(options.root ?? '/');
  const statuses = watchStatus({
    connection,
    log,
    clock,
    intervalMs: statusIntervalMs,
    timeoutMs: statusTimeoutMs,
  });

  /** CRI calls a frozen container running; without containerd's own service the kernel tells. */
  async function frozenInKernel(id: string): Promise<boolean> {
    const pid = await containerPid(connection, id, statusTimeoutMs);
    return pid !== undefined && (await cgroups.frozen(pid)) === true;
  }

  async function task(id: string): Promise<TaskState> {
    const { state, by } = await taskState(connection, id, statusTimeoutMs);
    return by === 'cri' && state === 'running' && (await frozenInKernel(id)) ? 'paused' : state;
  }
  const resume = (id: string): Promise<void> => resumeTask(connection, id, statusTimeoutMs);
  const closing = new AbortController();
  const abandoned = new Map<string, number>();
  const prove = (id: string, ending: Ending, cancel = closing.signal): Promise<Thawed> => {
    const giveUp = AbortSignal.any([cancel, closing.signal]);
    return proveRunning({ task, resume, clock, log, timeoutMs: thawTimeoutMs, settleMs }, id, ending, giveUp);
  };

  return {
    status: statuses.current,
    refresh: statuses.refresh,
    onStatusChange: statuses.onChange,
    find: (namespace, pod, container, cancel) => {
      const options = { deadlineMs: requestTimeoutMs, ...(cancel ? { cancel } : {}) };
      return findContainer(connection, options, namespace, pod, container);
    },
    checkpoint: (id, file, cancel) =>
      checkpointSafely({ connection, task, prove, clock, abandoned }, id, file, cancel),
    thaw: (id, cancel) => prove(id, 'abandoned', cancel),
    task,
    resume,
    memoryBytes: (id) => containerMemory(connection, cgroups, id, requestTimeoutMs),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await statuses[Symbol.asyncDispose]();
      connection[Symbol.dispose]();
    },
  };
}
