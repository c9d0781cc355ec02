import type { Job, Pod } from '../../../api/index.ts';
import type { Count } from './count.ts';
import { findJobFailure } from './failure-policy.ts';
import { countRestarts, findCondition, isIndexed } from './job-pods.ts';
import { findSuccess } from './success-policy.ts';

/** That a Job ends, and why, in the reference's words. */
export interface Finish {
  /** What is written first; Complete or Failed follows when all pods have ended and are counted. */
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

/** What the status says already: it stays so, whatever changes. */
export function recordedFinish(job: Job): Finish | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = findCondition(job, type);
    if (condition === undefined) continue;
    const { reason = '', message = '' } = condition;
    return { type, reason, message };
  }
  return undefined;
}

/** Why a Job ends although some of its pods may run; undefined: it goes on. `nowMs`: wall clock. */
export function findFinish(job: Job, pods: readonly Pod[], count: Count, nowMs: number): Finish | undefined {
  const policyFailure = findJobFailure(job, pods);
  if (policyFailure !== undefined) return failure('PodFailurePolicy', policyFailure);
  if (count.failed > (job.spec?.backoffLimit ?? 6) || hasTooManyRestarts(job, pods))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const deadlineMs = deadlineOf(job);
  if (deadlineMs !== undefined && deadlineMs <= nowMs)
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  return isIndexed(job) ? findIndexedFinish(job, count) : undefined;
}

/** When the Job is ended because it takes too long, wall clock, ms. */
export function deadlineOf({ spec, status }: Job): number | undefined {
  const { activeDeadlineSeconds, suspend } = spec ?? {};
  if (activeDeadlineSeconds === undefined || suspend === true || status?.startTime === undefined)
    return undefined;
  return Date.parse(status.startTime) + Number(activeDeadlineSeconds) * 1000;
}

function findIndexedFinish(job: Job, { failedIndexes, succeededIndexes }: Count): Finish | undefined {
  const { maxFailedIndexes, completions = 0 } = job.spec ?? {};
  const failed = failedIndexes?.size ?? 0;
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return failure('MaxFailedIndexesExceeded', message);
  }
  if (failed > 0 && failed + succeededIndexes.size >= completions)
    return failure('FailedIndexes', 'Job has failed indexes');
  const success = findSuccess(job, succeededIndexes);
  return success === undefined
    ? undefined
    : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: success };
}

/** Whether there are enough successes; `active`: pods that go on. */
export function findCompletion({ spec }: Job, { succeeded }: Count, active: number): Finish | undefined {
  const isEnough = spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions;
  if (!isEnough || active > 0) return undefined;
  return {
    type: 'SuccessCriteriaMet',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}

/** Pods that start their containers again themselves do not fail; then the restarts count. */
function hasTooManyRestarts({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = countRestarts(pods);
  return restarts > 0 && restarts >= (spec.backoffLimit ?? 6);
}

function failure(reason: string, message: string): Finish {
  return { type: 'FailureTarget', reason, message };
}
