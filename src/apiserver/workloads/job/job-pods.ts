import type { Job, Pod } from '../../../api/index.ts';
import { hasEnded, isTerminating } from '../pod-state.ts';

/** Keeps a pod until it is counted, as in the reference. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexKey = 'batch.kubernetes.io/job-completion-index';
/** How many pods of the same index have failed before this one: those that count, and those that a policy ignores. */
export const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

/** The limit of the indexes of a Job; 0 of one without. */
export function indexLimit(job: Job): number {
  return isIndexed(job) ? (job.spec?.completions ?? 0) : 0;
}

export function hasLimitPerIndex(job: Job): boolean {
  return isIndexed(job) && job.spec?.backoffLimitPerIndex !== undefined;
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata?.finalizers?.includes(trackingFinalizer) ?? false;
}

/** The index of a pod, if it is one; also one that its Job has not. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata?.annotations?.[indexKey] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Whether what becomes of the pod counts: one of an indexed Job must have one of its indexes. */
export function hasValidIndex(job: Job, pod: Pod): boolean {
  return !isIndexed(job) || (indexOf(pod) ?? Number.POSITIVE_INFINITY) < indexLimit(job);
}

/** Whether a pod that is being deleted is replaced, and counted, only when it has ended. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded';
}

/**
 * Whether a pod counts as failed. One that is being deleted does, since it may go without ever saying how it ended, unless the
 * Job waits for its end, or has what it needs and lets go of the rest.
 */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (!isTerminating(pod) || findCondition(job, 'SuccessCriteriaMet') !== undefined) return false;
  return !replacesOnlyFailed(job) || !pod.spec?.nodeName; // one without a node never ran, and nobody will say so
}

type JobCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number];

/** A condition that is True. */
export function findCondition({ status }: Job, type: string): JobCondition | undefined {
  return status?.conditions?.find((each) => each.type === type && each.status === 'True');
}

/** The condition with which a Job has ended. */
export function finishedCondition(job: Job): JobCondition | undefined {
  return findCondition(job, 'Complete') ?? findCondition(job, 'Failed');
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true;
}

/** The one controller of Jobs that is meant when a Job names none, as in the reference. */
const ownName = 'kubernetes.io/job-controller';

export function isManagedByOther({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== ownName;
}

/** When a pod that has ended did so, wall clock, ms: as its containers say, or the nearest that is known. */
export function endOf({ metadata, status }: Pod): number {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const deletion = Date.parse(metadata?.deletionTimestamp ?? '');
  const candidates = [
    lastFinish(status?.containerStatuses ?? []),
    ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN,
    deletion - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000,
    Date.parse(metadata?.creationTimestamp ?? ''),
  ];
  return candidates.find((ms) => !Number.isNaN(ms)) ?? 0;
}

type ContainerStatuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;

/** NaN unless all have ended and say when. */
function lastFinish(statuses: ContainerStatuses): number {
  if (statuses.length === 0) return Number.NaN;
  return Math.max(...statuses.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? '')));
}

/** How often containers have been started again in the pods that go on. */
export function countRestarts(pods: readonly Pod[]): number {
  let sum = 0;
  for (const { status } of pods) {
    if (hasEnded(status?.phase)) continue;
    for (const { restartCount = 0 } of status?.initContainerStatuses ?? []) sum += restartCount;
    for (const { restartCount = 0 } of status?.containerStatuses ?? []) sum += restartCount;
  }
  return sum;
}
