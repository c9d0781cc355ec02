import type { Deployment, Pod, ReplicaSet } from '../../../api/index.ts';
import { isSameTemplate } from '../../../api/index.ts';
import { hasEnded, isActive, isAvailable } from '../pod-state.ts';

export const hashLabel = 'pod-template-hash';

/** A ReplicaSet of a Deployment with what its pods are now: that is newer than its status. */
export interface SetFacts {
  readonly set: ReplicaSet;
  /** Wanted. */
  readonly replicas: number;
  /** Pods that have neither ended nor are being deleted. */
  readonly active: number;
  /** Pods that have not ended, also those that are being deleted. */
  readonly unended: number;
  /** Pods that stay and are available: of more than are wanted the others go. */
  readonly available: number;
}

export function factsOf(set: ReplicaSet, pods: readonly Pod[], nowMs: number): SetFacts {
  const { replicas = 1, minReadySeconds } = set.spec ?? {};
  const active = pods.filter(isActive);
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length;
  return {
    set,
    replicas,
    active: active.length,
    unended: pods.filter(({ status }) => !hasEnded(status?.phase)).length,
    available: Math.min(available, replicas),
  };
}

export interface Sets {
  /** The one with the template of the Deployment. */
  readonly current: SetFacts | undefined;
  /** The others, the oldest first. */
  readonly old: readonly SetFacts[];
}

/** Of several with the same template the oldest is the current one. */
export function sortSets({ spec }: Deployment, facts: readonly SetFacts[]): Sets {
  const sorted = facts.toSorted((one, other) => compareAges(one.set, other.set));
  const current = sorted.find(({ set }) => isSameTemplate(spec?.template, templateOf(set)));
  return { current, old: sorted.filter((each) => each !== current) };
}

/** The template that its Deployment had. */
function templateOf({ spec }: ReplicaSet): NonNullable<ReplicaSet['spec']>['template'] {
  const { template } = spec ?? {};
  const { [hashLabel]: _hash, ...labels } = template?.metadata?.labels ?? {};
  return template && { ...template, metadata: { ...template.metadata, labels } };
}

function compareAges({ metadata: one = {} }: ReplicaSet, { metadata: other = {} }: ReplicaSet): number {
  const [a, b] = [one, other].map(({ creationTimestamp = '', name = '' }) => `${creationTimestamp} ${name}`);
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

export function sumOf(facts: readonly SetFacts[], count: (each: SetFacts) => number): number {
  return facts.reduce((sum, each) => sum + count(each), 0);
}

export function replicasOf({ spec }: Deployment): number {
  return spec?.replicas ?? 1;
}

/** How many pods there may be beyond those wanted, and how many may be missing, while pods are replaced. */
export function limitsOf(deployment: Deployment): { maxSurge: number; maxUnavailable: number } {
  const { strategy } = deployment.spec ?? {};
  const replicas = replicasOf(deployment);
  if (strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = resolve(strategy?.rollingUpdate?.maxSurge, replicas, Math.ceil);
  const maxUnavailable = resolve(strategy?.rollingUpdate?.maxUnavailable, replicas, Math.floor);
  const missing = maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable; // or nothing could ever be replaced
  return { maxSurge, maxUnavailable: Math.min(missing, replicas) };
}

/** A number, or a percentage of `whole`. */
function resolve(
  value: number | string | undefined,
  whole: number,
  round: (value: number) => number,
): number {
  if (typeof value !== 'string') return value ?? 0;
  return round((whole * Number.parseInt(value, 10)) / 100);
}
