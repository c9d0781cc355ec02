import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import { ContainerState, RuntimeService } from './gen/cri_pb.js';
import { Status } from './gen/task_pb.js';
import { Tasks } from './gen/tasks_pb.js';
import type { TaskState } from './types.ts';

/** CRI's own state hides a frozen container as running, so containerd is asked through its own service. */
const containerdMetadata = { 'containerd-namespace': 'k8s.io' } as const;

/** A state and its source; the state by CRI does not show whether a container is frozen. */
export interface ReportedState {
  state: TaskState;
  by: 'containerd' | 'cri';
}

/** Returns containerd's task state; for a runtime without that service, the container's state by CRI. */
export async function readTaskState(
  connection: Connection,
  id: string,
  deadlineMs: number,
): Promise<ReportedState> {
  const options = { deadlineMs, metadata: containerdMetadata };
  try {
    const { process } = await connection.call(Tasks.method.get, { containerId: id }, options);
    return { state: fromTask(process?.status), by: 'containerd' };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    if (error.reason === 'notFound') return { state: 'gone', by: 'containerd' };
    if (error.reason !== 'unimplemented') throw error;
    return { state: await readCriState(connection, id, deadlineMs), by: 'cri' };
  }
}

/** Freezes a task; fails when it does not run, and on runtimes other than containerd. */
export async function pauseTask(
  connection: Connection,
  id: string,
  deadlineMs: number,
  cancel: AbortSignal,
): Promise<void> {
  const options = { deadlineMs, metadata: containerdMetadata, cancel };
  await connection.call(Tasks.method.pause, { containerId: id }, options);
}

/** Thaws a task; fails when it is not paused, and on runtimes other than containerd. */
export async function resumeTask(connection: Connection, id: string, deadlineMs: number): Promise<void> {
  const request = { containerId: id };
  await connection.call(Tasks.method.resume, request, { deadlineMs, metadata: containerdMetadata });
}

function fromTask(status: Status | undefined): TaskState {
  if (status === Status.RUNNING) return 'running';
  if (status === Status.PAUSED || status === Status.PAUSING) return 'paused';
  if (status === Status.STOPPED) return 'gone';
  return 'unknown';
}

async function readCriState(connection: Connection, id: string, deadlineMs: number): Promise<TaskState> {
  try {
    const request = { containerId: id };
    const { status } = await connection.call(RuntimeService.method.containerStatus, request, { deadlineMs });
    if (status?.state === ContainerState.CONTAINER_RUNNING) return 'running';
    return status?.state === ContainerState.CONTAINER_EXITED ? 'gone' : 'unknown';
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') return 'gone';
    throw error;
  }
}
