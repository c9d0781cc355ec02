/** What tests and benchmarks ask of a pod's status. */
import type { Pod } from '../../../src/api/index.ts';

type Status = NonNullable<Pod['status']>;
export type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

export function uidOf({ metadata }: Pod): string {
  const uid = metadata?.uid;
  if (uid === undefined) throw new Error(`pod ${metadata?.name} has no uid`);
  return uid;
}

export function isTrue({ status }: Pod, condition: string): boolean {
  return status?.conditions?.some((each) => each.type === condition && each.status === 'True') ?? false;
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isTrue(pod, 'Ready');
}

/** Of init containers, too; undefined when there is none yet. */
export function containerOf({ status }: Pod, name = 'main'): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
}

/** Why a container waits; empty when it does not. */
export function waitingReason(pod: Pod, name = 'main'): string {
  return containerOf(pod, name)?.state?.waiting?.reason ?? '';
}
