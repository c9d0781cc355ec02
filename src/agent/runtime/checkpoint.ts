import type { Clock } from '../../base/index.ts';
import type { Freezer } from './cgroup.ts';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import { RuntimeService } from './gen/cri_pb.js';
import { watchPause } from './pause-watch.ts';
import type { Ending } from './thaw.ts';
import type { CheckpointHints, Pause, TaskState, Thawed } from './types.ts';

export interface CheckpointParts {
  connection: Connection;
  task(id: string): Promise<TaskState>;
  /** Settles once the container has been proven to run; see `proveRunning`. */
  prove(id: string, ending: Ending): Promise<Thawed>;
  openFreezer(pid: number): Promise<Freezer | undefined>;
  clock: Clock;
}

const retryMs = 1000;

/** See `Runtime.checkpoint`. */
export async function checkpointSafely(
  parts: CheckpointParts,
  id: string,
  file: string,
  cancel: AbortSignal,
  { pid, againUntilMs = Number.NEGATIVE_INFINITY }: CheckpointHints = {},
): Promise<Pause> {
  const { clock, connection, openFreezer, prove } = parts;
  for (;;) {
    await requireRunning(parts, id);
    await using pause = watchPause(pid === undefined ? undefined : await openFreezer(pid), clock);
    const failure = await callCheckpoint(connection, id, file, cancel);
    if (failure?.reason !== 'unimplemented') await prove(id, failure ? 'abandoned' : 'answered');
    if (failure === undefined) return { pausedMs: pause.pausedMs() };
    if (failure.reason !== 'failed' || clock.monotonicMs() > againUntilMs) throw failure;
    await clock.sleep(retryMs, cancel);
    if (cancel.aborted) throw failure;
  }
}

/** Rejects, before anything is started, when the container does not run. One that another process has paused stays so. */
export async function requireRunning({ task }: Pick<CheckpointParts, 'task'>, id: string): Promise<void> {
  const state = await task(id);
  if (state === 'running') return;
  const hint = state === 'paused' ? '; resume it first' : '';
  throw new RuntimeError('failed', `container ${id} is not running, its task is ${state}${hint}`);
}

/** Has no deadline: when one expires midway, containerd leaves the container frozen for good. Returns the failure. */
export async function callCheckpoint(
  connection: Connection,
  containerId: string,
  location: string,
  cancel: AbortSignal,
): Promise<RuntimeError | undefined> {
  const { checkpointContainer } = RuntimeService.method;
  try {
    await connection.call(checkpointContainer, { containerId, location }, { deadlineMs: null, cancel });
    return undefined;
  } catch (error) {
    return error instanceof RuntimeError
      ? error
      : new RuntimeError('failed', String(error), { cause: error });
  }
}
