import type { Clock } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { PodRecord, Termination } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';

/** The record of a pod that was not known before. */
export function newRecord(takenMs: number): PodRecord {
  return { takenMs, isAdmitted: false, ips: [], containers: {} };
}

/** Whether the runtime may still carry out what it was asked for. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!(error instanceof RuntimeError)) return isUnanswered(error.cause);
  return ['timeout', 'unavailable', 'cancelled'].includes(error.reason);
}

/** What a runtime was asked for, and did not answer, it makes or undoes within this time. */
const unansweredMs = 5 * 60_000;

/** Whether a sandbox or container may still come to be by a call that nobody waits for any more. */
export function mayStillBeMade({ askedMs }: PodRecord, nowMs: number): boolean {
  return askedMs !== undefined && Math.abs(nowMs - askedMs) < unansweredMs;
}

/** The runtime has answered: what is there is all that there will be. */
export function withoutAsked(record: PodRecord): PodRecord {
  const { askedMs, ...rest } = record;
  return askedMs === undefined ? record : rest;
}

/** Clocks that are kept in step differ by less. */
const minClockChangeMs = 2000;

/** Notices that the wall clock was set. */
export class WallClockChanges {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = this.#read();
  }

  /** By how many milliseconds since the last call; 0: it was not. */
  takeChange(): number {
    const setByMs = this.#read() - this.#offsetMs;
    if (Math.abs(setByMs) < minClockChangeMs) return 0;
    this.#offsetMs += setByMs;
    return setByMs;
  }

  /** How far the wall clock is before the monotonic one. */
  #read(): number {
    return this.#clock.now() - this.#clock.monotonicMs();
  }
}

/** The time that the pod has to end is neither cut short nor made longer by hours when the wall clock is set. */
export function withClockSet(record: PodRecord, byMs: number): PodRecord {
  const { termination } = record;
  if (termination === undefined || byMs === 0) return record;
  return { ...record, termination: { ...termination, sinceMs: termination.sinceMs + byMs } };
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
