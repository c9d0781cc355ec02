import type { Job, JobStatus, Pod } from '../../../api/index.ts';
import { withoutZeros } from '../counts.ts';
import { isActive, isTerminating } from '../pod-state.ts';
import { judgeFailure } from './failure-policy.ts';
import { IndexSet } from './indexes.ts';
import {
  failureCountKey,
  findCondition,
  hasFailed,
  hasLimitPerIndex,
  hasSucceeded,
  hasValidIndex,
  ignoredFailureCountKey,
  indexLimit,
  indexOf,
  isIndexed,
  isTracked,
} from './job-pods.ts';

/*
 * A pod is counted once, whatever is stopped when. Its finalizer says that it is not counted yet:
 *
 *     status.uncountedTerminatedPods gets its uid ──► the finalizer goes ──► the uid goes, and the number grows
 *
 * Each arrow is one write, and each step is decided from what is written. A success of an indexed Job needs no uid: its
 * index is in status.completedIndexes, or is not.
 */

/** What a Job's status and its pods say together. */
export interface Count {
  /** Of `uncountedTerminatedPods`: those that still have the finalizer. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** Without the new ones, with those whose finalizer has gone. */
  readonly counted: { readonly succeeded: number; readonly failed: number };
  /** Pods that have ended and that the status does not know. */
  readonly newlySucceeded: readonly Pod[];
  readonly newlyFailed: readonly Pod[];
  /** Totals with all of them, as the limits see them. */
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: IndexSet;
  /** Undefined: the Job has no limit for each index. */
  readonly failedIndexes: IndexSet | undefined;
}

export function countPods(job: Job, pods: readonly Pod[]): Count {
  const { status = {} } = job;
  const tracked = pods.filter(isTracked);
  const uids = new Set(tracked.map(uidOf));
  const before = status.uncountedTerminatedPods ?? {};
  const left = (list: readonly string[] = []) => new Set(list.filter((uid) => uids.has(uid)));
  const uncounted = { succeeded: left(before.succeeded), failed: left(before.failed) };
  const settled = (list: readonly string[] = [], still: ReadonlySet<string>) =>
    new Set(list).size - still.size;
  const counted = {
    succeeded: (status.succeeded ?? 0) + settled(before.succeeded, uncounted.succeeded),
    failed: (status.failed ?? 0) + settled(before.failed, uncounted.failed),
  };
  const unknown = tracked.filter(
    (pod) =>
      !uncounted.succeeded.has(uidOf(pod)) && !uncounted.failed.has(uidOf(pod)) && hasValidIndex(job, pod),
  );
  const newlySucceeded = unknown.filter(hasSucceeded);
  const newlyFailed = unknown.filter((pod) => !hasSucceeded(pod) && hasFailed(job, pod));
  const countsFailed = newlyFailed.filter((pod) => isCounted(job, pod));
  const succeededIndexes = succeededOf(job, newlySucceeded);
  return {
    ...{ uncounted, counted, newlySucceeded, newlyFailed, succeededIndexes },
    succeeded: isIndexed(job)
      ? succeededIndexes.size
      : counted.succeeded + uncounted.succeeded.size + newlySucceeded.length,
    failed: counted.failed + uncounted.failed.size + countsFailed.length,
    failedIndexes: failedOf(job, newlyFailed),
  };
}

/** Whether a failure counts against the limits. */
function isCounted({ spec }: Job, pod: Pod): boolean {
  return judgeFailure(spec?.podFailurePolicy, pod).counts;
}

function succeededOf(job: Job, newly: readonly Pod[]): IndexSet {
  if (!isIndexed(job)) return IndexSet.none;
  const before = IndexSet.parse(job.status?.completedIndexes, indexLimit(job));
  return before.union(IndexSet.of(newly.flatMap((pod) => indexOf(pod) ?? [])));
}

function failedOf(job: Job, newly: readonly Pod[]): IndexSet | undefined {
  if (!hasLimitPerIndex(job)) return undefined;
  const before = IndexSet.parse(job.status?.failedIndexes, indexLimit(job));
  const failed = newly.filter((pod) => endsIndex(job, pod)).flatMap((pod) => indexOf(pod) ?? []);
  return before.union(IndexSet.of(failed));
}

/** Whether the failure of a pod is that of its index. */
function endsIndex({ spec }: Job, pod: Pod): boolean {
  const { action, counts } = judgeFailure(spec?.podFailurePolicy, pod);
  if (action === 'FailIndex') return true;
  return counts && failuresBefore(pod) >= (spec?.backoffLimitPerIndex ?? 0);
}

/** How many pods of the index failed before this one and counted. */
export function failuresBefore(pod: Pod): number {
  return readCount(pod, failureCountKey);
}

/** How many failed and were ignored. */
export function ignoredBefore(pod: Pod): number {
  return readCount(pod, ignoredFailureCountKey);
}

function readCount({ metadata }: Pod, key: string): number {
  const text = metadata?.annotations?.[key] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** The last failed pod of each index that is to be tried again: it stays until its successor is there and has its numbers. */
export function lastFailures(job: Job, pods: readonly Pod[], count: Count): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  if (!hasLimitPerIndex(job)) return last;
  const active = new Set(pods.filter(isActive).map(indexOf));
  const total = (pod: Pod) => failuresBefore(pod) + ignoredBefore(pod);
  for (const pod of count.newlyFailed) {
    const index = indexOf(pod);
    if (index === undefined || active.has(index) || count.succeededIndexes.has(index)) continue;
    if (count.failedIndexes?.has(index) === true) continue;
    const other = last.get(index);
    if (other === undefined || total(other) <= total(pod)) last.set(index, pod);
  }
  return last;
}

/** As in the reference: more uids would make the status too large. */
const uncountedLimit = 500;

/** The part of the status that counts, and whose finalizers go once it is written. */
export interface Tally {
  readonly status: Pick<
    JobStatus,
    'succeeded' | 'failed' | 'completedIndexes' | 'failedIndexes' | 'uncountedTerminatedPods'
  >;
  readonly release: readonly Pod[];
  /** Whether there are more than can be counted at once. */
  readonly hasMore: boolean;
}

/** `isFailing`: the Job ends as failed, so that each pod which is being deleted has failed. `kept`: those still needed. */
export function tallyPods(
  job: Job,
  pods: readonly Pod[],
  count: Count,
  isFailing: boolean,
  kept: ReadonlySet<Pod>,
): Tally {
  const succeeded = new Set(count.uncounted.succeeded);
  const failed = new Set(count.uncounted.failed);
  const release: Pod[] = [];
  let completed = IndexSet.parse(job.status?.completedIndexes, indexLimit(job));
  const indexes: number[] = [];
  let hasMore = false;
  for (const pod of pods.filter(isTracked)) {
    const hasFailedNow = hasFailed(job, pod) || (isFailing && isTerminating(pod));
    if (kept.has(pod) || !mayRelease(job, pod, hasFailedNow)) continue;
    if (succeeded.size + failed.size + indexes.length >= uncountedLimit) {
      hasMore = true;
      break;
    }
    release.push(pod);
    const uid = uidOf(pod);
    if (failed.has(uid) || succeeded.has(uid) || !hasValidIndex(job, pod)) continue;
    if (hasSucceeded(pod)) {
      if (isIndexed(job)) indexes.push(indexOf(pod) ?? 0);
      else succeeded.add(uid);
    } else if (hasFailedNow && isCounted(job, pod)) failed.add(uid);
  }
  completed = completed.union(IndexSet.of(indexes));
  return {
    release,
    hasMore,
    status: {
      ...withoutZeros({
        succeeded: isIndexed(job) ? completed.size : count.counted.succeeded,
        failed: count.counted.failed,
      }),
      ...(completed.size > 0 ? { completedIndexes: completed.toString() } : {}),
      ...(count.failedIndexes === undefined ? {} : { failedIndexes: count.failedIndexes.toString() }),
      uncountedTerminatedPods: {
        ...(succeeded.size > 0 ? { succeeded: [...succeeded] } : {}),
        ...(failed.size > 0 ? { failed: [...failed] } : {}),
      },
    },
  };
}

function mayRelease(job: Job, pod: Pod, hasFailedNow: boolean): boolean {
  if (job.metadata?.deletionTimestamp !== undefined || hasFailedNow || hasSucceeded(pod)) return true;
  return findCondition(job, 'SuccessCriteriaMet') !== undefined && isTerminating(pod);
}

export function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? '';
}
