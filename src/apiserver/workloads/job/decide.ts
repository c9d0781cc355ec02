import type { Job, JobStatus, Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { Happening } from '../../../client/events/index.ts';
import { withoutZeros } from '../counts.ts';
import { normal, warning } from '../pod-control.ts';
import { earliest, isActive, isReady, isTerminating } from '../pod-state.ts';
import type { FailureRecord } from './backoff.ts';
import { recordEnds } from './backoff.ts';
import type { Tally } from './count.ts';
import { countPods, lastFailures, tallyPods } from './count.ts';
import type { Finish } from './finish.ts';
import { deadlineOf, findCompletion, findFinish, recordedFinish } from './finish.ts';
import {
  findCondition,
  finishedCondition,
  hasFailed,
  hasSucceeded,
  hasValidIndex,
  isSuspended,
  isTracked,
} from './job-pods.ts';
import type { PodsWanted } from './pods-wanted.ts';
import { findPodsWanted } from './pods-wanted.ts';

/*
 * That a Job ends is written before anything follows from it, so that it stays so when this program is stopped at any moment:
 *
 *     SuccessCriteriaMet or FailureTarget ──► pods are deleted, counted, and end ──► Complete or Failed
 */

/** What a Job is decided from. */
export interface JobView {
  readonly job: Job;
  /** All that it owns. */
  readonly pods: readonly Pod[];
  /** What was decided before. */
  readonly record: FailureRecord | undefined;
  /** Wall clock. */
  readonly nowMs: number;
}

/** What is to be done, in this order. */
export interface JobDecision extends PodsWanted {
  /** Pods that end with the Job: they are deleted, and counted. */
  readonly end: readonly Pod[];
  readonly status: JobStatus;
  /** To be reported once the status is written. */
  readonly happenings: readonly Happening[];
  /** Pods whose finalizer goes once the status is written. */
  readonly release: readonly Pod[];
  /** What is to be remembered. */
  readonly record: FailureRecord;
}

const noPods: PodsWanted = { dismiss: [], create: [] };

export function decideJob(view: JobView): JobDecision {
  const { pods, nowMs } = view;
  const job = withStart(view.job, nowMs);
  if (finishedCondition(job) !== undefined) return decideFinished(view);
  const count = countPods(job, pods);
  const record = recordPods(view.record, job, pods);
  const recorded = recordedFinish(job);
  const active = pods.filter(isActive);
  const early = recorded ?? findFinish(job, pods, count, nowMs);
  const mayManage = early === undefined && job.metadata?.deletionTimestamp === undefined;
  const wanted = mayManage ? findPodsWanted(job, pods, count, record, nowMs) : noPods;
  const finish = early ?? findCompletion(job, count, active.length + wanted.create.length);
  const kept = new Set(finish === undefined ? lastFailures(job, pods, count).values() : []);
  const isDeleted = job.metadata?.deletionTimestamp !== undefined;
  const tally = tallyPods(job, pods, count, recorded?.type === 'FailureTarget', isDeleted ? new Set() : kept);
  const outline = outlineStatus(job, pods, tally);
  const ended = recorded !== undefined && isOver(pods, tally) ? recorded : undefined;
  const { status, happenings } = describe(job, outline, { finish, ended, mayManage }, nowMs);
  return {
    ...wanted,
    ...{ status, happenings, record },
    end: recorded === undefined ? [] : active,
    release: tally.release,
    againMs: finish === undefined ? earliest(wanted.againMs, deadlineOf({ ...job, status })) : undefined,
  };
}

/** Nothing holds the pods of a Job that has ended. */
function decideFinished({ job, pods, record }: JobView): JobDecision {
  const release = pods.filter(isTracked);
  const status = job.status ?? {};
  return { ...noPods, ...{ end: [], happenings: [], status, release }, record: recordEnds(record, [], []) };
}

/** Pods that were let go have not failed, though they are being deleted. */
function recordPods(before: FailureRecord | undefined, job: Job, pods: readonly Pod[]): FailureRecord {
  const valid = pods.filter((pod) => hasValidIndex(job, pod));
  const failed = valid.filter(
    (pod) => hasFailed(job, pod) && (isTracked(pod) || pod.metadata?.deletionTimestamp === undefined),
  );
  return recordEnds(
    before,
    valid.filter(hasSucceeded),
    failed.filter((pod) => !hasSucceeded(pod)),
  );
}

/** The time of a Job begins when it is first looked at, and again when it is resumed. */
function withStart(job: Job, nowMs: number): Job {
  if (isSuspended(job) || finishedCondition(job) !== undefined) return job;
  if (job.status?.startTime !== undefined && findCondition(job, 'Suspended') === undefined) return job;
  return { ...job, status: { ...job.status, startTime: formatTime(nowMs) } };
}

/** Whether all pods have ended, and are counted. */
function isOver(pods: readonly Pod[], { status, release, hasMore }: Tally): boolean {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const isCounted = succeeded.length + failed.length + release.length === 0 && !hasMore;
  return isCounted && !pods.some((pod) => isActive(pod) || isTerminating(pod));
}

function outlineStatus(job: Job, pods: readonly Pod[], tally: Tally): JobStatus {
  const { startTime, completionTime, conditions } = job.status ?? {};
  const active = pods.filter(isActive);
  return {
    ...(conditions === undefined ? {} : { conditions }),
    ...(startTime === undefined ? {} : { startTime }),
    ...(completionTime === undefined ? {} : { completionTime }),
    ...withoutZeros({ active: active.length }),
    ...tally.status,
    terminating: pods.filter(isTerminating).length,
    ready: active.filter(isReady).length,
  };
}

interface Outcome {
  readonly finish: Finish | undefined;
  /** All is done for this end: it becomes final. */
  readonly ended: Finish | undefined;
  readonly mayManage: boolean;
}

type Described = Pick<JobDecision, 'status' | 'happenings'>;

/** The status with the conditions as they are now. */
function describe(job: Job, status: JobStatus, outcome: Outcome, nowMs: number): Described {
  const { finish, ended, mayManage } = outcome;
  if (ended !== undefined) return describeEnd(job, status, ended, nowMs);
  if (finish !== undefined)
    return { status: withCondition(status, { ...finish, status: 'True' }, nowMs), happenings: [] };
  if (!mayManage) return { status, happenings: [] };
  return describeSuspension(job, status, nowMs);
}

function describeEnd({ spec }: Job, status: JobStatus, ended: Finish, nowMs: number): Described {
  const { reason, message } = ended;
  const isComplete = ended.type === 'SuccessCriteriaMet';
  const type = isComplete ? 'Complete' : 'Failed';
  const final = withCondition(status, { type, reason, message, status: 'True' }, nowMs);
  if (!isComplete) return { status: final, happenings: [warning(reason, message)] };
  const isTooMany = spec?.completions !== undefined && (status.succeeded ?? 0) > spec.completions;
  const tooMany = warning(
    'TooManySucceededPods',
    'Too many succeeded pods running after completion count reached',
  );
  return {
    status: { ...final, completionTime: formatTime(nowMs) },
    happenings: [...(isTooMany ? [tooMany] : []), normal('Completed', 'Job completed')],
  };
}

function describeSuspension(job: Job, status: JobStatus, nowMs: number): Described {
  const before = status.conditions?.find(({ type }) => type === 'Suspended')?.status;
  if (isSuspended(job)) {
    if (before === 'True') return { status, happenings: [] };
    const condition = { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' };
    return {
      status: withCondition(status, condition, nowMs),
      happenings: [normal('Suspended', 'Job suspended')],
    };
  }
  if (before !== 'True') return { status, happenings: [] };
  const condition = { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  return {
    status: withCondition(status, condition, nowMs),
    happenings: [normal('Resumed', 'Job resumed')],
  };
}

interface NewCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** One that is there with that status stays as it is. */
function withCondition(status: JobStatus, condition: NewCondition, nowMs: number): JobStatus {
  const { conditions = [] } = status;
  const before = conditions.find(({ type }) => type === condition.type);
  if (before?.status === condition.status) return status;
  const at = formatTime(nowMs);
  const { type, reason, message } = condition;
  const next = {
    ...{ type, status: condition.status, reason, message },
    ...{ lastProbeTime: at, lastTransitionTime: at },
  };
  const replaced = conditions.map((each) => (each === before ? next : each));
  return { ...status, conditions: before === undefined ? [...conditions, next] : replaced };
}
