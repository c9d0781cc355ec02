import type { Pod } from '../../../api/index.ts';
import type { ContainerType, PodRecord } from '../plan/index.ts';
import { afterEnd } from '../plan/index.ts';
import type { PodStatus } from './types.ts';

export type PodSpec = NonNullable<Pod['spec']>;
export type Container = NonNullable<PodSpec['containers']>[number];
export type PodCondition = NonNullable<PodStatus['conditions']>[number];
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type ContainerState = NonNullable<ContainerStatus['state']>;
export type Terminated = NonNullable<ContainerState['terminated']>;

/** A container of the spec. */
export interface TypedContainer {
  readonly type: ContainerType;
  readonly spec: Container;
}

/** Those of the init list, in its order: init containers and sidecars. */
export function initContainersOf({ spec }: Pod): TypedContainer[] {
  return (spec?.initContainers ?? []).map((each) => ({
    type: each.restartPolicy === 'Always' ? 'sidecar' : 'init',
    spec: each,
  }));
}

export function regularContainersOf({ spec }: Pod): TypedContainer[] {
  return (spec?.containers ?? []).map((each) => ({ type: 'regular', spec: each }));
}

export function ephemeralContainersOf({ spec }: Pod): TypedContainer[] {
  return (spec?.ephemeralContainers ?? []).map((each) => ({ type: 'ephemeral', spec: each }));
}

/** Whether a container that ended so is started again by its policy. */
export function restartsAfter(container: TypedContainer, { spec }: Pod, end: Terminated): boolean {
  return afterEnd(container, end, spec?.restartPolicy ?? 'Always') !== 'nothing';
}

/** Whether it was stopped so as to start another, which follows whatever the policy says. */
export function isRestartOrdered(
  { type, spec }: TypedContainer,
  { containers }: PodRecord,
  { containerID = '' }: Terminated,
): boolean {
  const { restartOf } = containers[spec.name] ?? {};
  return type !== 'ephemeral' && restartOf !== undefined && containerID.endsWith(`//${restartOf}`);
}

export function isTerminal(phase: string | undefined): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

export function findCondition(
  conditions: readonly PodCondition[] | undefined,
  type: string,
): PodCondition | undefined {
  return conditions?.find((each) => each.type === type);
}

/** In the order in which they start: init containers and sidecars, regular ones, ephemeral ones. */
export function containersOf(pod: Pod): TypedContainer[] {
  return [...initContainersOf(pod), ...regularContainersOf(pod), ...ephemeralContainersOf(pod)];
}
