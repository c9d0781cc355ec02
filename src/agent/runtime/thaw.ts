/**
 * Proof that a workload runs after a checkpoint.
 *
 * To checkpoint a task, containerd pauses it, dumps it, and resumes it as part of the caller's request. When
 * the caller, or containerd itself, goes away in between, the last step may never happen, and CRI goes on to say
 * that the container is running. Observed with containerd 2.1:
 *
 *     cancelled 0–14 ms after the call   the pause comes, also some ms after the cancelled call has settled,
 *                                        and no resume ever does
 *     cancelled during the dump          the task's state is not reported until the dump is over; it is then
 *                                        paused for some ms more, and resumed by containerd
 *     containerd killed                  paused for ever, reported as soon as containerd is back
 *
 * So after a call that did not end by itself, a task that is observed running once proves nothing: the pause may be yet to
 * come. It must be observed running for a while, or paused first, because a checkpoint pauses only once.
 */
import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import { RuntimeError } from './errors.ts';
import type { TaskState, Thawed } from './types.ts';

export interface ThawOptions {
  task(id: string): Promise<TaskState>;
  resume(id: string): Promise<void>;
  /** Called for each container that this process has resumed. */
  resumed?: (id: string) => void;
  clock: Clock;
  log: Logger;
  /** How long to try, and to wait for a runtime that is away. */
  timeoutMs: number;
  /** How long a task must be observed running when its pause may still come. */
  settleMs: number;
}

/** `answered`: the runtime has ended the checkpoint, so its pause is over. `abandoned`: it may still continue. */
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
    const observed = await observe(options, id);
    const now = clock.monotonicMs();
    if (observed.state === 'gone') return 'gone';
    if (observed.state !== 'running') runningSince = undefined;
    else if (pauseIsOver) return resumed ? 'resumed' : 'running';
    else runningSince ??= now;
    if (runningSince !== undefined && now - runningSince >= settleMs) return 'running';
    const late = now >= end && runningSince === undefined; // a task that already runs is given the time to settle
    if (late || cancel?.aborted) throw createUnprovenError(observed, cancel);
    if (observed.state === 'paused') {
      pauseIsOver = true;
      const failure = await tryResume(options, id);
      resumed ||= failure === undefined;
      if (failure === undefined) continue;
      log.warn({ container: id, error: failure }, 'cannot resume the frozen container, trying again');
    }
    await clock.sleep(backoff.next(), cancel);
  }
}

interface Observation {
  state: TaskState;
  problem?: string;
}

async function observe({ task }: ThawOptions, id: string): Promise<Observation> {
  try {
    return { state: await task(id) };
  } catch (error) {
    return { state: 'unknown', problem: describeError(error) };
  }
}

/** Logs an error only when this process has thawed it: the runtime may do so itself just after its dump. */
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

function createUnprovenError(observed: Observation, cancel: AbortSignal | undefined): RuntimeError {
  const why = observed.problem ?? `its task is ${observed.state}`;
  const when = cancel?.aborted ? 'when this was given up' : 'in time';
  return new RuntimeError('stillFrozen', `the container could not be proven to run ${when}: ${why}`);
}
