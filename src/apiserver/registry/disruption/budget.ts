import type { ObjectSelector, Pod, PodDisruptionBudget } from '../../../api/index.ts';
import { formatTime, selectsLabels } from '../../../api/index.ts';

/** How long a pod whose eviction was allowed counts as gone; if it is still there then, it was not evicted. */
export const disruptionTimeoutMs = 120_000;

/** Whether a pod is under a budget. A selector that is empty selects nothing. */
export function isUnderBudget(pod: Pod, { metadata, spec }: PodDisruptionBudget): boolean {
  const selector = spec?.selector;
  if (selector === undefined || isEmpty(selector)) return false;
  return (
    metadata?.namespace === pod.metadata?.namespace && selectsLabels(selector, pod.metadata?.labels ?? {})
  );
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: ObjectSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

/** Whether a status says already that so many disruptions are allowed, or why none are. */
export interface Allowance {
  /** Of the condition DisruptionAllowed. */
  readonly reason: string;
  readonly message: string;
}

/** The budget with its condition DisruptionAllowed; by default it follows from the number of disruptions. */
export function withAllowance(
  budget: PodDisruptionBudget,
  nowMs: number,
  said?: Allowance,
): PodDisruptionBudget {
  const { status = {} } = budget;
  const isAllowed = said === undefined && (status.disruptionsAllowed ?? 0) > 0;
  const type = 'DisruptionAllowed';
  const before = status.conditions?.find((condition) => condition.type === type);
  const next = {
    type,
    status: isAllowed ? 'True' : 'False',
    reason: said?.reason ?? (isAllowed ? 'SufficientPods' : 'InsufficientPods'),
    message: said?.message ?? '',
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
  };
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : formatTime(nowMs);
  const others = (status.conditions ?? []).filter((condition) => condition !== before);
  return { ...budget, status: { ...status, conditions: [...others, { ...next, lastTransitionTime }] } };
}

/** What is found out about the pods of a budget. */
export interface BudgetCount {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
}

/** The budget with a status that says what was found out; `disrupted`: pods whose eviction is under way, with its time. */
export function withCount(
  budget: PodDisruptionBudget,
  { currentHealthy, desiredHealthy, expectedPods }: BudgetCount,
  disrupted: Readonly<Record<string, string>>,
  nowMs: number,
): PodDisruptionBudget {
  const isSafe = expectedPods > 0 && currentHealthy > desiredHealthy;
  const { disruptedPods: _before, ...status } = budget.status ?? {};
  const counted = {
    ...status,
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: { ...disrupted } }),
    disruptionsAllowed: isSafe ? currentHealthy - desiredHealthy : 0,
    ...{ currentHealthy, desiredHealthy, expectedPods },
    observedGeneration: budget.metadata?.generation ?? 0,
  };
  return withAllowance({ ...budget, status: counted }, nowMs);
}

/**
 * Of the pods whose eviction was allowed, those that are still to go; `late`: the pods that are there although they should have
 * gone.
 */
export function disruptedPods(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  nowMs: number,
): { disrupted: Record<string, string>; late: readonly Pod[] } {
  const disrupted: Record<string, string> = {};
  const late: Pod[] = [];
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata ?? {};
    const time = status?.disruptedPods?.[name];
    if (time === undefined || deletionTimestamp !== undefined) continue;
    if (Date.parse(time) + disruptionTimeoutMs < nowMs) late.push(pod);
    else disrupted[name] = time;
  }
  return { disrupted, late };
}

/** Pods that are ready and neither going nor about to. */
export function countHealthy(pods: readonly Pod[], disrupted: Readonly<Record<string, string>>): number {
  return pods.filter(
    (pod) =>
      pod.metadata?.deletionTimestamp === undefined &&
      disrupted[pod.metadata?.name ?? ''] === undefined &&
      isPodReady(pod),
  ).length;
}
