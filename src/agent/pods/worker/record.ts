import type { PodRecord, Termination } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';

/** The record of a pod that was not known before. */
export function newRecord(takenMs: number): PodRecord {
  return { takenMs, isAdmitted: false, ips: [], containers: {} };
}

/**
 * Joins a reason to end with the one that stands: the time to end only gets shorter, what failed stays logged, and an object that
 * is gone is more than one that is being deleted.
 */
export function joinTerminations(before: Termination | undefined, next: Termination): Termination {
  if (before === undefined) return next;
  const endOf = ({ sinceMs, graceSeconds }: Termination) => sinceMs + graceSeconds * 1000;
  const { sinceMs, graceSeconds } = endOf(next) < endOf(before) ? next : before;
  const rank = { failed: 0, deleted: 1, gone: 2 } as const;
  const cause = rank[next.cause] > rank[before.cause] ? next.cause : before.cause;
  const { reason = next.reason, message = next.message } = before;
  return {
    cause,
    ...{ sinceMs, graceSeconds },
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** The container was started: why it could not be before is of no matter any more. */
export function withoutFailure(record: PodRecord, container: string): PodRecord {
  const { failure, ...rest } = record.containers[container] ?? {};
  if (failure === undefined) return record;
  return { ...record, containers: { ...record.containers, [container]: rest } };
}

/** With what an ended container left as its message, for when the runtime has forgotten the container. */
export function withMessage(
  record: PodRecord,
  { id, name }: Pick<ContainerView, 'id' | 'name'>,
  message: string,
): PodRecord {
  const { lastExit } = record.containers[name] ?? {};
  if (lastExit?.id !== id || message === '' || lastExit.message.endsWith(message)) return record;
  const joined = [lastExit.message, message].filter((part) => part !== '').join(': ');
  const next = { ...record.containers[name], lastExit: { ...lastExit, message: joined } };
  return { ...record, containers: { ...record.containers, [name]: next } };
}
