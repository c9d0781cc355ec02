import type { CronJob, Job } from '../../../api/index.ts';
import { findCondition, finishedCondition } from '../job/index.ts';

/** Jobs that have ended and are not kept: the oldest beyond the limits, those that succeeded and those that failed by themselves. */
export function findOldJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = spec ?? {};
  const ended = jobs.filter((job) => finishedCondition(job) !== undefined && !isGoing(job));
  const succeeded = ended.filter((job) => findCondition(job, 'Complete') !== undefined);
  const failed = ended.filter((job) => findCondition(job, 'Failed') !== undefined);
  return [...beyond(succeeded, successfulJobsHistoryLimit), ...beyond(failed, failedJobsHistoryLimit)];
}

function beyond(jobs: readonly Job[], limit: number | undefined): Job[] {
  if (limit === undefined || jobs.length <= limit) return [];
  return jobs.toSorted(byStart).slice(0, jobs.length - limit);
}

/** One that has not begun comes last, as in the reference. */
function byStart(one: Job, other: Job): number {
  const [first, second] = [startOf(one), startOf(other)];
  if (first !== second) return first < second ? -1 : 1;
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

function startOf({ status }: Job): number {
  return Date.parse(status?.startTime ?? '') || Number.POSITIVE_INFINITY;
}

function nameOf({ metadata }: Job): string {
  return metadata?.name ?? '';
}

export function isGoing({ metadata }: Job): boolean {
  return metadata?.deletionTimestamp !== undefined;
}
