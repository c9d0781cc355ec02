import type { WorkerParts } from './types.ts';
import type { PodWorker } from './worker.ts';

/** That the node ends a pod for its own sake: to make room, under pressure, or because it shuts down. */
export interface PodEnd {
  /** As the status of the pod says them, whose phase is then Failed. */
  readonly reason: string;
  readonly message: string;
  /** From now on; an end that is under way only gets quicker. Below 1 nothing is asked to end by itself. */
  readonly graceSeconds: number;
  /**
   * The message of the condition DisruptionTarget, reason TerminationByKubelet: controllers make another pod without counting
   * a failure. Undefined: the pod has no such condition, for its end is its own fault.
   */
  readonly disruption?: string;
}

/** Whether the node may still end it: it runs, or ends more slowly, and holds something of the node. */
export function canBeEnded({ record }: PodWorker): boolean {
  return record.isReleased !== true;
}

/** Kept on disk, so that an agent that starts in the middle goes on. Returns false where nothing is left to end. */
export function endPod(worker: PodWorker, end: PodEnd, nowMs: number): boolean {
  if (!canBeEnded(worker)) return false;
  worker.terminate({ ...end, cause: 'failed', sinceMs: nowMs });
  return true;
}

const clearMs = 30_000;
const clearCheckMs = 100;

/**
 * Removes what the runtime keeps of pods that have ended, with their logs. Resolves when that is done, at the latest after half a
 * minute: the rest goes on by itself.
 */
export async function clearEnded(
  workers: () => readonly PodWorker[],
  { clock, view }: Pick<WorkerParts, 'clock' | 'view'>,
  signal: AbortSignal,
): Promise<void> {
  const isLeft = ({ uid, record }: PodWorker) => record.isReleased === true && view.pod(uid) !== undefined;
  for (const worker of workers().filter(isLeft)) worker.clear();
  const endMs = clock.monotonicMs() + clearMs;
  while (!signal.aborted && clock.monotonicMs() < endMs && workers().some(isLeft))
    await clock.sleep(clearCheckMs, signal);
}
