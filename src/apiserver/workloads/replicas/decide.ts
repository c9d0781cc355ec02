import type { Pod, PodTemplateSpec } from '../../../api/index.ts';
import { formatTime, selectsLabels } from '../../../api/index.ts';
import { withoutZeros } from '../counts.ts';
import { inDeletionOrder } from '../deletion-order.ts';
import { isActive, isAvailable, isReady, isTerminating } from '../pod-state.ts';

/** What ReplicaSets and ReplicationControllers have in common. */
export interface ReplicaSpec {
  replicas?: number;
  minReadySeconds?: number;
  template?: PodTemplateSpec;
}

export interface ReplicaCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ReplicaStatus {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: ReplicaCondition[];
}

/** Pods made or deleted in one go, as in the reference. */
const maxAtOnce = 500;
const failureType = 'ReplicaFailure';

/** What is to be done so that there are as many pods as wanted: how many are made, or which are deleted. */
export interface ReplicaPlan {
  readonly create: number;
  readonly remove: readonly Pod[];
}

/** `owned`: all its pods; `related`: pods beside which one is dispensable, see `inDeletionOrder`. `nowMs`: wall clock. */
export function decideReplicas(
  wanted: number,
  owned: readonly Pod[],
  related: readonly Pod[],
  nowMs: number,
): ReplicaPlan {
  const active = owned.filter(isActive);
  const missing = wanted - active.length;
  if (missing >= 0) return { create: Math.min(missing, maxAtOnce), remove: [] };
  const remove = inDeletionOrder(active, related, nowMs).slice(0, Math.min(-missing, maxAtOnce));
  return { create: 0, remove };
}

/** What went wrong with which plan. */
export interface ReplicaFailure {
  readonly plan: ReplicaPlan;
  readonly message: string;
}

/** `failure`: of the last try; without it the condition ReplicaFailure goes. */
export function computeReplicaStatus(
  { spec = {}, generation, before = {} }: { spec?: ReplicaSpec; generation: number; before?: ReplicaStatus },
  owned: readonly Pod[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): ReplicaStatus {
  const active = owned.filter(isActive);
  const matchLabels = spec.template?.metadata?.labels ?? {};
  const count = (holds: (pod: Pod) => boolean) => active.filter(holds).length;
  const conditions = withFailure(before.conditions ?? [], failure, nowMs);
  return {
    replicas: active.length,
    terminatingReplicas: owned.filter(isTerminating).length,
    ...withoutZeros({
      fullyLabeledReplicas: count(({ metadata }) => selectsLabels({ matchLabels }, metadata?.labels ?? {})),
      readyReplicas: count(isReady),
      availableReplicas: count((pod) => isAvailable(pod, spec.minReadySeconds, nowMs)),
      observedGeneration: generation,
    }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** The first failure stays as it is written until there is none any more, as in the reference. */
function withFailure(
  conditions: readonly ReplicaCondition[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): ReplicaCondition[] {
  const others = conditions.filter(({ type }) => type !== failureType);
  if (failure === undefined) return others;
  if (others.length < conditions.length) return [...conditions];
  const reason = failure.plan.create > 0 ? 'FailedCreate' : 'FailedDelete';
  const { message } = failure;
  return [
    ...others,
    { type: failureType, status: 'True', lastTransitionTime: formatTime(nowMs), reason, message },
  ];
}
