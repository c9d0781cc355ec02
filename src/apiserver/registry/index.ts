export { confirm, createOutdatedError } from './confirm.ts';
export {
  type BudgetCount,
  countHealthy,
  disruptedPods,
  disruptionTimeoutMs,
  isUnderBudget,
  withAllowance,
  withCount,
} from './disruption/budget.ts';
export { type Disruption, withDisruption } from './disruption/pod-condition.ts';
export type { FieldIndex } from './field-index.ts';
export { type Follower, followWritten } from './follower.ts';
export { namedNodes } from './named-nodes.ts';
export { podBinding } from './operations/pod-binding.ts';
export { createValueReader } from './read-value.ts';
export { createRegistry } from './registry.ts';
export { Resource } from './resource.ts';
export { runOperation } from './run-operation.ts';
export { AddressRange, defaultServiceRanges, type ServiceRanges } from './services/ranges.ts';
export type { Splice } from './splice.ts';
export {
  claimFinalizer,
  type DefaultTolerations,
  isMirrorPod,
  mirrorAnnotation,
  permanentNamespaces,
  volumeFinalizer,
} from './strategies/index.ts';
export type { Admission, Advice, WriteContext } from './strategy.ts';
export type { Operation, Registry } from './types.ts';
export { refuseUnreadable, UnreadableError } from './unreadable.ts';
export {
  type Deletion,
  foregroundFinalizer,
  maxGraceSeconds,
  orphanFinalizer,
  type PropagationPolicy,
  propagationPolicies,
  settleGrace,
  withFinalizers,
} from './write/deletion-plan.ts';
