/**
 * Proof that a workload runs after a checkpoint.
 *
 * To checkpoint a task, containerd pauses it, dumps it, and resumes it in the name of the caller. When the
 * caller has gone meanwhile, or containerd itself, the last step may never happen, and CRI goes on to say that
 * the container is running. What was seen with containerd 2.1:
 *
 *     cancelled 0–14 ms after the call   the pause comes, also some ms after the cancelled call has settled,
 *                                        and no resume ever does
 *     cancelled during the dump          the task's state is not told until the dump is over; it is then
 *                                        paused for some ms more, and resumed by containerd
 *     containerd killed                  paused for ever, told as soon as containerd is back
 *
 * So one look at a running task proves nothing after a call that did not end by itself: the pause may be yet
 * to come. It must be seen running for a while, or seen paused first, because a checkpoint pauses only once.
 */
import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import { RuntimeError } from './errors.ts';
import type { TaskState, Thawed } from './types.ts';

export interface ThawOptions {
  task(id: string): Promise<TaskState>;
  resume(id: string): Promise<void>;
  /** Told of each container that this side has resumed. */
  resumed?: (id: string) => void;
  clock: Clock;
  log: Logger;
  /** How long to try, and to wait for a runtime that is away. */
  timeoutMs: number;
  /** How long a task must be seen running when its pause may still come. */
  settleMs: number;
}

/** `answered`: the runtime says that the checkpoint is done, so its pause is over. All else may go on behind our back. */
export type Ending = 'answered' | 'abandoned';

/**
 * Resolves once the task runs or has ended. Rejects with reason `stillFrozen` when that could not be proven
 * within the time, or when `cancel` aborts first.
 */
export async function proveRunning(
  options: ThawOptions,
  id: string,
  ending: Ending,
  cancel?: AbortSignal,
): Promise<Thawed> {
  const { clock, log, settleMs, timeoutMs } = options;
  const end = clock.monotonicMs() + timeoutMs;
  const backoff = createBackoff({ initialMs: 50, maxMs: 500 });
  let pauseIsOver = ending === 'answered';
  let resumed = false;
  let runningSince: number | undefined;
  for (;;) {
    const seen = await look(options, id);
    const now = clock.monotonicMs();
    if (seen.state === 'gone') return 'gone';
    if (seen.state !== 'running') runningSince = undefined;
    else if (pauseIsOver) return resumed ? 'resumed' : 'running';
    else runningSince ??= now;
    if (runningSince !== undefined && now - runningSince >= settleMs) return 'running';
    const late = now >= end && runningSince === undefined; // who runs already is given the time to settle
    if (late || cancel?.aborted) throw unproven(seen, cancel);
    if (seen.state === 'paused') {
      pauseIsOver = true;
      const failure = await tryResume(options, id);
      resumed ||= failure === undefined;
      if (failure === undefined) continue;
      log.warn({ container: id, error: failure }, 'cannot resume the frozen container, trying again');
    }
    await clock.sleep(backoff.next(), cancel);
  }
}

interface Look {
  state: TaskState;
  problem?: string;
}

async function look({ task }: ThawOptions, id: string): Promise<Look> {
  try {
    return { state: await task(id) };
  } catch (error) {
    return { state: 'unknown', problem: describeError(error) };
  }
}

/** Loud only when it was really this side that thawed it: after its dump the runtime may just do so itself. */
async function tryResume({ resume, resumed, log }: ThawOptions, id: string): Promise<string | undefined> {
  try {
    await resume(id);
    log.error({ container: id }, 'a checkpoint left the container frozen; it has been resumed');
    resumed?.(id);
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

function unproven(seen: Look, cancel: AbortSignal | undefined): RuntimeError {
  const why = seen.problem ?? `its task is ${seen.state}`;
  const when = cancel?.aborted ? 'when this was given up' : 'in time';
  return new RuntimeError('stillFrozen', `the container could not be proven to run ${when}: ${why}`);
}
