import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import { nodeShutdown, nodeShutdownRefusal } from '../admission/index.ts';
import { annotationOf, fullName, hashAnnotation, originOf } from '../names.ts';
import type { PodRecord, Termination } from '../plan/index.ts';
import { firstAllocation, withAllocation, withLogged } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';

/** The record of a pod that was not known before. */
export function newRecord(takenMs: number): PodRecord {
  return { takenMs, isAdmitted: false, ips: [], containers: {} };
}

const manifestHashOf = (pod: Pod): string | undefined =>
  originOf(pod) === 'api' ? undefined : annotationOf(pod, hashAnnotation);

/** With the hash of the pod's manifest, where none is known yet. */
export function withManifest(record: PodRecord, pod: Pod): PodRecord {
  const manifestHash = manifestHashOf(pod);
  const isKnown = manifestHash === undefined || record.manifestHash !== undefined;
  return isKnown ? record : { ...record, manifestHash };
}

/** Whether the pod was taken up from another manifest, which had the same uid: that one ends, then this one begins. */
export function isOfOtherManifest({ manifestHash }: PodRecord, pod: Pod): boolean {
  const hash = manifestHashOf(pod);
  return manifestHash !== undefined && hash !== undefined && hash !== manifestHash;
}

/** A pod that an agent has run before is judged by what it was given then. */
export function asGivenBefore(pod: Pod, isResizing: boolean): Pod {
  return isResizing ? withAllocation(pod, firstAllocation(pod)) : pod;
}

/** With what the pod was given, where none is known yet; without that where nothing is resized. */
export function withFirstAllocation(record: PodRecord, pod: Pod, isResizing: boolean): PodRecord {
  const { allocation, replaced: _replaced, pendingResize: _pending, ...rest } = record;
  if (isResizing) return allocation === undefined ? { ...record, allocation: firstAllocation(pod) } : record;
  return allocation === undefined ? record : rest;
}

/** Whether nothing of the pod was left: one of that uid that is wanted again begins from nothing. */
export const isOver = ({ termination, isReleased }: PodRecord): boolean =>
  isReleased === true && termination?.cause === 'gone';

/** Whether it ended, or was refused, only because the machine was to shut down. */
export const isEndOfShutdown = ({ termination, isReleased }: PodRecord): boolean =>
  isReleased === true &&
  termination?.cause === 'failed' &&
  [nodeShutdown, nodeShutdownRefusal].some(({ reason }) => reason === termination.reason);

/** Of a pod that begins again, with what may still come to be of its earlier life: no number is used again. */
export function withEarlierLife(record: PodRecord, earlier: PodRecord): PodRecord {
  const { askedMs, sandboxAttempt } = earlier;
  const tried = Object.entries(earlier.containers).flatMap(([name, { attempt }]) =>
    attempt === undefined ? [] : [[name, { attempt }] as const],
  );
  return {
    ...record,
    containers: Object.fromEntries(tried),
    ...(askedMs === undefined ? {} : { askedMs }),
    ...(sandboxAttempt === undefined ? {} : { sandboxAttempt }),
  };
}

/** Where the record knows of no container, one may have run all the same: under another agent, or before a file was lost. */
export async function withLogs(
  record: PodRecord,
  pod: Pod,
  executor: { loggedAttempts(pod: Pod): Promise<ReadonlyMap<string, number>> },
  log: Logger,
): Promise<PodRecord> {
  if (Object.keys(record.containers).length > 0) return record;
  try {
    return withLogged(record, await executor.loggedAttempts(pod));
  } catch (error) {
    log.warn(`the logs of pod ${fullName(pod)} cannot be looked through: ${describeError(error)}`);
    return record;
  }
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

/** With when the runtime was asked for what it has not answered; undefined: for nothing. */
export function withAsked(record: PodRecord, askedMs: number | undefined): PodRecord {
  const { askedMs: before, ...rest } = record;
  if (before === askedMs) return record;
  return askedMs === undefined ? rest : { ...rest, askedMs };
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
  const { reason, message, disruption } = before.reason === undefined ? next : before;
  return {
    cause,
    ...{ sinceMs, graceSeconds },
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(disruption === undefined ? {} : { disruption }),
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
