import type { Job, Pod } from '../../../api/index.ts';
import { inDeletionOrder } from '../deletion-order.ts';
import { earliest, isActive, isTerminating } from '../pod-state.ts';
import type { FailureRecord } from './backoff.ts';
import { delayAfter, mayCreateAtMs } from './backoff.ts';
import type { Count } from './count.ts';
import { failuresBefore, ignoredBefore, lastFailures } from './count.ts';
import { judgeFailure } from './failure-policy.ts';
import { IndexSet } from './indexes.ts';
import {
  endOf,
  hasLimitPerIndex,
  indexLimit,
  indexOf,
  isIndexed,
  isSuspended,
  isTracked,
  replacesOnlyFailed,
} from './job-pods.ts';

/** A pod that is to be made. */
export interface NewPod {
  /** Of an indexed Job. */
  readonly index?: number;
  /** Of a Job with a limit for each index: how many of it failed before. */
  readonly failures?: { readonly counted: number; readonly ignored: number };
}

export interface PodsWanted {
  /** Pods too many: they are let go uncounted. */
  readonly dismiss: readonly Pod[];
  readonly create: readonly NewPod[];
  /** When more may be made, wall clock, ms. */
  readonly againMs?: number | undefined;
}

/** In one go, as in the reference. */
const maxAtOnce = 500;
const nothing: PodsWanted = { dismiss: [], create: [] };

/** Which pods a Job that goes on lacks, or has too many. `record`: its failures, with the newest. */
export function findPodsWanted(
  job: Job,
  pods: readonly Pod[],
  count: Count,
  record: FailureRecord,
  nowMs: number,
): PodsWanted {
  const active = pods.filter(isActive);
  const [kept, dismissed] = splitActive(job, active, nowMs);
  const surplus = isSuspended(job) ? kept.length : kept.length - wantedActive(job, count, kept.length);
  const dismiss = [
    ...dismissed,
    ...(surplus > 0 ? inDeletionOrder(kept, kept, nowMs).slice(0, surplus) : []),
  ];
  if (dismiss.length > 0) return { dismiss: dismiss.slice(0, maxAtOnce), create: [] };
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : [];
  const lacking = Math.min(-surplus - terminating.length, maxAtOnce);
  if (lacking <= 0) return nothing;
  if (hasLimitPerIndex(job)) return createByIndex(job, pods, count, lacking, nowMs);
  const againMs = mayCreateAtMs(record);
  if (againMs > nowMs) return { ...nothing, againMs };
  if (!isIndexed(job)) return { dismiss, create: Array.from({ length: lacking }, () => ({})) };
  const indexes = takenIndexes(job, pods, count).firstMissing(lacking, indexLimit(job));
  return { dismiss, create: indexes.map((index) => ({ index })) };
}

/** How many pods should go on. */
function wantedActive({ spec }: Job, { succeeded }: Count, active: number): number {
  const parallelism = spec?.parallelism ?? 1;
  const completions = spec?.completions;
  if (completions === undefined) return succeeded > 0 ? active : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/**
 * Those that may stay, and those that may not: without the finalizer, since their dismissal was interrupted before they were
 * deleted; with an index that another has, or that the Job has not.
 */
function splitActive(job: Job, active: readonly Pod[], nowMs: number): readonly [Pod[], Pod[]] {
  const tracked = active.filter(isTracked);
  const untracked = active.filter((pod) => !isTracked(pod));
  if (!isIndexed(job)) return [tracked, untracked];
  const byIndex = new Map<number, Pod>();
  const dismissed: Pod[] = [];
  for (const pod of inDeletionOrder(tracked, tracked, nowMs)) {
    const index = indexOf(pod);
    if (index === undefined || index >= indexLimit(job)) {
      dismissed.push(pod);
      continue;
    }
    const other = byIndex.get(index);
    if (other !== undefined) dismissed.push(other);
    byIndex.set(index, pod);
  }
  return [[...byIndex.values()], [...untracked, ...dismissed]];
}

/** The indexes for which no pod is to be made. */
function takenIndexes(job: Job, pods: readonly Pod[], count: Count): IndexSet {
  const holds = (pod: Pod) => isActive(pod) || (replacesOnlyFailed(job) && isTerminating(pod));
  const held = IndexSet.of(pods.filter(holds).flatMap((pod) => indexOf(pod) ?? []));
  return held.union(count.succeededIndexes).union(count.failedIndexes ?? IndexSet.none);
}

/** Each index waits for itself after a failure, and holds up no other. */
function createByIndex(
  job: Job,
  pods: readonly Pod[],
  count: Count,
  lacking: number,
  nowMs: number,
): PodsWanted {
  const last = lastFailures(job, pods, count);
  const waiting = new Map<number, number>();
  for (const [index, pod] of last) {
    const atMs = endOf(pod) + delayAfter(failuresBefore(pod) + ignoredBefore(pod) + 1);
    if (atMs > nowMs) waiting.set(index, atMs);
  }
  const taken = takenIndexes(job, pods, count).union(IndexSet.of(waiting.keys()));
  const indexes = taken.firstMissing(lacking, indexLimit(job));
  return {
    dismiss: [],
    create: indexes.map((index) => ({ index, failures: failuresAfter(job, last.get(index)) })),
    againMs: indexes.length < lacking ? earliest(...waiting.values()) : undefined,
  };
}

function failuresAfter({ spec }: Job, failed: Pod | undefined): { counted: number; ignored: number } {
  if (failed === undefined) return { counted: 0, ignored: 0 };
  const { counts } = judgeFailure(spec?.podFailurePolicy, failed);
  return {
    counted: failuresBefore(failed) + (counts ? 1 : 0),
    ignored: ignoredBefore(failed) + (counts ? 0 : 1),
  };
}
