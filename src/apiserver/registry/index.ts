export type { Preconditions } from './checks.ts';
export { concurrently } from './concurrently.ts';
export {
  type Deletion,
  foregroundFinalizer,
  longestGraceSeconds,
  orphanFinalizer,
  type PropagationPolicy,
  propagationPolicies,
  withFinalizers,
} from './deletion-plan.ts';
export type { ObjectEncoding } from './encoding.ts';
export type { FieldIndex } from './field-index.ts';
export { timestamp } from './metadata.ts';
export { namedNodes } from './named-nodes.ts';
export { operate } from './operate.ts';
export { createRegistry, type RegistryOptions } from './registry.ts';
export { Resource } from './resource.ts';
export type { Splice } from './splice.ts';
export { permanentNamespaces } from './strategies/namespace.ts';
export { isMirrorPod, mirrorAnnotation } from './strategies/pod.ts';
export type { Admission, Advice, Strategy, WriteContext } from './strategy.ts';
export { Turns } from './turns.ts';
export type { Operation, OperationRequest, OperationResult, Registry } from './types.ts';
