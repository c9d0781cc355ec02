import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import { RuntimeService } from './gen/cri_pb.js';
import type { Ending } from './thaw.ts';
import type { TaskState, Thawed } from './types.ts';

export interface CheckpointParts {
  connection: Connection;
  task(id: string): Promise<TaskState>;
  /** Settles once the container is proven to run; see `proveRunning`. */
  prove(id: string, ending: Ending): Promise<Thawed>;
}

/** See `Runtime.checkpoint`. */
export async function checkpointSafely(
  parts: CheckpointParts,
  id: string,
  file: string,
  cancel: AbortSignal,
): Promise<void> {
  await requireRunning(parts, id);
  const failure = await callCheckpoint(parts.connection, id, file, cancel);
  if (failure?.reason !== 'unimplemented') await parts.prove(id, failure ? 'abandoned' : 'answered');
  if (failure) throw failure;
}

/** Nothing has been begun when this fails. A container that somebody else has paused stays paused. */
async function requireRunning({ task }: CheckpointParts, id: string): Promise<void> {
  const state = await task(id);
  if (state === 'running') return;
  const hint = state === 'paused' ? '; resume it first' : '';
  throw new RuntimeError('failed', `container ${id} is not running, its task is ${state}${hint}`);
}

/** Never with a deadline: when one expires in the middle, containerd leaves the container frozen for good. */
async function callCheckpoint(
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
