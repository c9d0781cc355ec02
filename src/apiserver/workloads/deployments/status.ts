import type { Deployment } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import { withoutZeros } from '../counts.ts';
import type { SetFacts, Sets } from './sets.ts';
import { limitsOf, replicasOf } from './sets.ts';

type Status = NonNullable<Deployment['status']>;
type Conditions = NonNullable<Status['conditions']>;
type Condition = Conditions[number];

/** What was done since the status was written, and why there is no more progress. */
export interface StatusNews {
  /** Name of the ReplicaSet that was made. */
  readonly created?: string;
  /** Why none could be made. */
  readonly createFailure?: string;
  /** The name of the new ReplicaSet was taken by another one. */
  readonly isCollision?: boolean;
  /** Whether progress is expected. */
  readonly isRollout: boolean;
  /** What the pods wait for that are not available; empty where that is not known. */
  explainWaiting(): string;
}

const secondMs = 1000;
const noDeadline = 2 ** 31 - 1;

/** `before`: the Deployment as it is stored. `nowMs`: wall clock. */
export function computeStatus(before: Deployment, sets: Sets, news: StatusNews, nowMs: number): Status {
  const { status: old = {}, metadata } = before;
  const all = sets.current === undefined ? sets.old : [...sets.old, sets.current];
  const statuses = all.map(({ set }) => set.status ?? {});
  const sum = (count: (status: (typeof statuses)[number]) => number | undefined) =>
    statuses.reduce((total, status) => total + (count(status) ?? 0), 0);
  const wanted = all.reduce((total, { replicas }) => total + replicas, 0);
  const availableReplicas = sum((status) => status.availableReplicas);
  const collisionCount = news.isCollision ? (old.collisionCount ?? 0) + 1 : old.collisionCount;
  const counts: Status = withoutZeros({
    observedGeneration: metadata?.generation ?? 0,
    replicas: sum(({ replicas }) => replicas),
    updatedReplicas: sets.current?.set.status?.replicas ?? 0,
    readyReplicas: sum(({ readyReplicas }) => readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, wanted - availableReplicas),
  });
  const next = { ...counts, terminatingReplicas: sum(({ terminatingReplicas }) => terminatingReplicas) };
  const conditions = computeConditions(before, next, sets, news, nowMs);
  return { ...next, conditions, ...(collisionCount === undefined ? {} : { collisionCount }) };
}

function computeConditions(
  before: Deployment,
  next: Status,
  sets: Sets,
  news: StatusNews,
  nowMs: number,
): Conditions {
  const found = before.status?.conditions ?? [];
  const set = (conditions: Conditions, type: string, how: Omit<Condition, 'type'>) =>
    withCondition(conditions, { type, ...how }, nowMs);
  const progressed = withProgress(before, next, sets, news, nowMs);
  const minAvailable = replicasOf(before) - limitsOf(before).maxUnavailable;
  const isAvailable = (next.availableReplicas ?? 0) >= minAvailable;
  const available = set(
    progressed ?? found,
    'Available',
    isAvailable
      ? {
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          ...{ status: 'False', reason: 'MinimumReplicasUnavailable' },
          message: 'Deployment does not have minimum availability.',
        },
  );
  const failure = findFailure(sets);
  if (failure === undefined) return available.filter(({ type }) => type !== 'ReplicaFailure');
  const { status, reason = '', message = '' } = failure;
  return set(available, 'ReplicaFailure', { status, reason, message });
}

/** That of the current ReplicaSet before those of old ones. */
function findFailure({ current, old }: Sets) {
  const sets = current === undefined ? old : [current, ...old];
  return sets
    .flatMap(({ set }) => set.status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
}

/** As stored while neither its status nor its reason changes; so that it is not written again. */
function withCondition(conditions: Conditions, condition: Condition, nowMs: number): Conditions {
  const before = conditions.find(({ type }) => type === condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return conditions;
  return replaced(conditions, condition, nowMs);
}

function replaced(conditions: Conditions, condition: Condition, nowMs: number): Conditions {
  const before = conditions.find(({ type }) => type === condition.type);
  const lastUpdateTime = formatTime(nowMs);
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined;
  const lastTransitionTime = isSame ? (before.lastTransitionTime ?? lastUpdateTime) : lastUpdateTime;
  return [
    ...conditions.filter((each) => each !== before),
    { ...condition, lastUpdateTime, lastTransitionTime },
  ];
}

/** Whether there is a time within which a Deployment has to get on. */
function deadlineMs({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds: seconds } = spec ?? {};
  return seconds === undefined || seconds === noDeadline ? undefined : seconds * secondMs;
}

/** When a rollout is looked at again because it may have taken too long, wall clock, ms. */
export function nextDeadlineMs(deployment: Deployment): number | undefined {
  const limitMs = deadlineMs(deployment);
  const progressing = findProgressing(deployment.status?.conditions ?? []);
  if (limitMs === undefined || deployment.spec?.paused || progressing === undefined) return undefined;
  if (progressing.reason === reasons.available || progressing.reason === reasons.timedOut) return undefined;
  return Date.parse(progressing.lastUpdateTime ?? '') + limitMs + secondMs;
}

const reasons = {
  created: 'NewReplicaSetCreated',
  found: 'FoundNewReplicaSet',
  updated: 'ReplicaSetUpdated',
  available: 'NewReplicaSetAvailable',
  timedOut: 'ProgressDeadlineExceeded',
  failed: 'ReplicaSetCreateError',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const;

const findProgressing = (conditions: Conditions) => conditions.find(({ type }) => type === 'Progressing');

function withProgress(
  before: Deployment,
  next: Status,
  sets: Sets,
  news: StatusNews,
  nowMs: number,
): Conditions {
  const found = before.status?.conditions ?? [];
  if (deadlineMs(before) === undefined)
    return news.isRollout ? found.filter(({ type }) => type !== 'Progressing') : found;
  const set = (conditions: Conditions, status: string, reason: string, message: string) =>
    withCondition(conditions, { type: 'Progressing', status, reason, message }, nowMs);
  const resumed = withPause(before, set);
  if (!news.isRollout) return resumed;
  if (news.createFailure !== undefined) return set(resumed, 'False', reasons.failed, news.createFailure);
  const conditions =
    news.created === undefined
      ? resumed
      : set(resumed, 'True', reasons.created, `Created new replica set "${news.created}"`);
  return judgeProgress(before, next, { conditions, sets, news, nowMs });
}

/** A time out stays reported while it is paused. */
function withPause(
  { spec, status }: Deployment,
  set: (conditions: Conditions, status: string, reason: string, message: string) => Conditions,
): Conditions {
  const found = status?.conditions ?? [];
  const reason = findProgressing(found)?.reason;
  if (reason === reasons.timedOut) return found;
  if (spec?.paused) return set(found, 'Unknown', reasons.paused, 'Deployment is paused');
  if (reason !== reasons.paused) return found;
  return set(found, 'Unknown', reasons.resumed, 'Deployment is resumed');
}

interface Judged {
  readonly conditions: Conditions;
  readonly sets: Sets;
  readonly news: StatusNews;
  readonly nowMs: number;
}

function judgeProgress(
  before: Deployment,
  next: Status,
  { conditions, sets, news, nowMs }: Judged,
): Conditions {
  const current = findProgressing(conditions);
  const { metadata } = sets.current?.set ?? before;
  const subject = `${sets.current === undefined ? 'Deployment' : 'ReplicaSet'} "${metadata?.name}"`;
  const condition = (status: string, reason: string, message: string) => ({
    ...{ type: 'Progressing', status, reason },
    message: `${subject} ${message}`,
  });
  const isThrough = (next.replicas ?? 0) === (next.updatedReplicas ?? 0);
  if (isThrough && current?.reason === reasons.available) return conditions; // a pod that is replaced is no rollout
  if (isComplete(before, next))
    return withCondition(
      conditions,
      condition('True', reasons.available, 'has successfully progressed.'),
      nowMs,
    );
  if (hasProgressed(before.status ?? {}, next))
    return replaced(conditions, condition('True', reasons.updated, 'is progressing.'), nowMs);
  if (sets.current !== undefined && (current === undefined || current.reason === reasons.available)) {
    const message = `Found new replica set "${metadata?.name}"`;
    return replaced(
      conditions,
      { type: 'Progressing', status: 'True', reason: reasons.found, message },
      nowMs,
    );
  }
  if (!isTimedOut(before, current, nowMs)) return conditions;
  const why = news.explainWaiting();
  const message = `has timed out progressing.${why === '' ? '' : ` ${why}`}`;
  return withCondition(conditions, condition('False', reasons.timedOut, message), nowMs);
}

export function isComplete(deployment: Deployment, status: Status): boolean {
  const wanted = replicasOf(deployment);
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}

function hasProgressed(old: Status, next: Status): boolean {
  const count = ({ replicas = 0, updatedReplicas: updated = 0, ...status }: Status) => ({
    ...{ updated, outdated: replicas - updated },
    ...{ ready: status.readyReplicas ?? 0, available: status.availableReplicas ?? 0 },
  });
  const [before, now] = [count(old), count(next)];
  return (
    now.updated > before.updated ||
    now.outdated < before.outdated ||
    now.ready > before.ready ||
    now.available > before.available
  );
}

function isTimedOut(deployment: Deployment, current: Condition | undefined, nowMs: number): boolean {
  const limitMs = deadlineMs(deployment);
  if (limitMs === undefined || current === undefined || current.reason === reasons.available) return false;
  return current.reason === reasons.timedOut || Date.parse(current.lastUpdateTime ?? '') + limitMs < nowMs;
}

/** The ReplicaSets of a Deployment whose pods are looked at when a rollout hangs. */
export function hangingSet({ current, old }: Sets): SetFacts | undefined {
  return current ?? old.at(-1);
}
