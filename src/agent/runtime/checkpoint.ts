import type { Clock } from '../../base/index.ts';
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
  clock: Clock;
  /** When a call for a container was last given up, on the clock's monotonic time; kept by this module. */
  abandoned: Map<string, number>;
}

/**
 * How long containerd may take to clear away what an abandoned dump has written. It does so behind our back, in a
 * folder that all dumps of a container use, and makes the next one fail that begins meanwhile (seen with 2.1 after a
 * dump of 512 MiB: `open …/ctrd-checkpoint/status: no such file or directory`).
 */
const clearingMs = 30_000;
const againMs = 1000;

/** See `Runtime.checkpoint`. */
export async function checkpointSafely(
  parts: CheckpointParts,
  id: string,
  file: string,
  cancel: AbortSignal,
): Promise<void> {
  for (;;) {
    await requireRunning(parts, id);
    const failure = await callCheckpoint(parts.connection, id, file, cancel);
    if (failure?.reason === 'cancelled') noteAbandoned(parts, id);
    if (failure?.reason !== 'unimplemented') await parts.prove(id, failure ? 'abandoned' : 'answered');
    if (failure === undefined) return;
    if (failure.reason !== 'failed' || !mayBeClearing(parts, id)) throw failure;
    await parts.clock.sleep(againMs, cancel);
    if (cancel.aborted) throw failure;
  }
}

function noteAbandoned({ abandoned, clock }: CheckpointParts, id: string): void {
  const now = clock.monotonicMs();
  for (const [other, since] of abandoned) if (now - since > clearingMs) abandoned.delete(other);
  abandoned.set(id, now);
}

function mayBeClearing({ abandoned, clock }: CheckpointParts, id: string): boolean {
  const since = abandoned.get(id);
  return since !== undefined && clock.monotonicMs() - since <= clearingMs;
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
