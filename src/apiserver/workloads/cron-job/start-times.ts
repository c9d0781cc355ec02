import type { CronJob, CronJobSpec } from '../../../api/index.ts';

/** More missed starts than this are worth a warning; as in the reference. */
const manyMissed = 100;

/** What a schedule says of now. */
export interface StartTimes {
  /** The newest start that is not carried out yet, wall clock, ms; undefined: none is. */
  readonly dueMs?: number;
  readonly hasMissedMany: boolean;
  /** When to look again, wall clock, ms; undefined: the schedule never comes again. */
  readonly nextMs?: number | undefined;
}

/**
 * `next`: the first time after another one, wall clock, ms; undefined: none. `everyMs`: of a schedule without a calendar, whose
 * starts count from the last one. Returns a text where the schedule is no use.
 */
export function findStartTimes(
  { metadata, spec, status }: CronJob,
  next: (afterMs: number) => number | undefined,
  nowMs: number,
  everyMs?: number,
): StartTimes | string {
  const sinceMs = Date.parse(status?.lastScheduleTime ?? metadata?.creationTimestamp ?? '') || 0;
  const reachMs = reachOf(sinceMs, spec?.startingDeadlineSeconds, nowMs, everyMs);
  const firstMs = next(reachMs);
  if (firstMs === undefined) return 'time difference between two schedules is less than 1 second';
  if (firstMs > nowMs) return { hasMissedMany: false, nextMs: firstMs };
  const secondMs = next(firstMs);
  if (secondMs === undefined || secondMs > nowMs)
    return { dueMs: firstMs, hasMissedMany: false, nextMs: secondMs };
  const spacingMs = secondMs - firstMs;
  const missed = Math.floor((nowMs - firstMs) / spacingMs) + 1;
  const dueMs = newestStart(next, firstMs, missed, spacingMs, nowMs);
  return { dueMs, hasMissedMany: missed > manyMissed, nextMs: next(dueMs) };
}

/** The time after which starts are carried out: those before the deadline are not. */
function reachOf(
  sinceMs: number,
  deadlineSeconds: CronJobSpec['startingDeadlineSeconds'],
  nowMs: number,
  everyMs: number | undefined,
): number {
  if (deadlineSeconds === undefined) return sinceMs;
  const reachMs = Math.max(sinceMs, nowMs - Number(deadlineSeconds) * 1000);
  return everyMs === undefined ? reachMs : sinceMs + Math.floor((reachMs - sinceMs) / everyMs) * everyMs;
}

/**
 * Not counted one by one from the first: a clock that is wrong by years must not cost minutes. The leap is taken back as often as
 * it turns out to be too far, since a schedule need not be regular.
 */
function newestStart(
  next: (afterMs: number) => number | undefined,
  firstMs: number,
  missed: number,
  spacingMs: number,
  nowMs: number,
): number {
  for (let back = 2; back <= missed; back *= 2) {
    const newest = lastBefore(next, firstMs + (missed - back) * spacingMs, nowMs);
    if (newest !== undefined) return newest;
  }
  return lastBefore(next, firstMs - 1, nowMs) ?? firstMs;
}

/** The last start after one time and until another. */
function lastBefore(
  next: (afterMs: number) => number | undefined,
  afterMs: number,
  untilMs: number,
): number | undefined {
  let last: number | undefined;
  for (let at = next(afterMs); at !== undefined && at <= untilMs; at = next(at)) last = at;
  return last;
}
