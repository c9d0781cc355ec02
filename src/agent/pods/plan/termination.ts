import type { Pod } from '../../../api/index.ts';
import { graceSecondsOf } from './spec.ts';
import type { PlanInput, Termination } from './types.ts';

const deadlineMessage = 'Pod was active on the node longer than the specified deadline';

/** Why the pod ends, by the record and by its object; the grace is only ever made shorter. */
export function findTermination(input: PlanInput): Termination | undefined {
  const known = input.record.termination;
  const deletion = findDeletion(input);
  if (known === undefined || deletion === undefined) return known ?? deletion;
  const cause = known.cause === 'failed' ? deletion.cause : known.cause;
  const isShorter = endMs(deletion) < endMs(known);
  if (!isShorter && cause === known.cause) return known;
  const { graceSeconds, sinceMs } = isShorter ? deletion : known;
  return { ...known, cause, graceSeconds, sinceMs };
}

/** That the pod was active longer than it may be. */
export function findOverdue(input: PlanInput): Termination | undefined {
  const atMs = activeUntilMs(input);
  if (atMs === undefined || atMs > input.nowMs) return undefined;
  return {
    cause: 'failed',
    graceSeconds: graceSecondsOf(input.pod),
    sinceMs: input.nowMs,
    reason: 'DeadlineExceeded',
    message: deadlineMessage,
  };
}

export function activeUntilMs({ pod, record }: PlanInput): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  return seconds === undefined ? undefined : record.takenMs + seconds * 1000;
}

/** The grace counts from when the node learns of the deletion: its clock may differ from the API server's. */
function findDeletion({ pod, origin, nowMs }: PlanInput): Termination | undefined {
  const { deletionTimestamp } = pod.metadata ?? {};
  if (origin !== 'api' || deletionTimestamp === undefined) return undefined;
  return {
    cause: 'deleted',
    graceSeconds: deletionGraceOf(pod),
    sinceMs: nowMs,
  };
}

/** As in the reference, a container is always asked to end before it is killed, however little time a deletion gives it. */
const minGraceSeconds = 1;

/** The time that a pod has to end when its object is deleted, or is there no more. */
export function deletionGraceOf(pod: Pod): number {
  return Math.max(minGraceSeconds, pod.metadata?.deletionGracePeriodSeconds ?? graceSecondsOf(pod));
}

const endMs = ({ sinceMs, graceSeconds }: Termination): number => sinceMs + graceSeconds * 1000;
