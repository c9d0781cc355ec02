import type { Pod } from '../../../api/index.ts';
import type { ContainerRecord, Plan, PlanInput } from '../plan/index.ts';

export type PodStatus = NonNullable<Pod['status']>;

/** As in `containerStatuses[].allocatedResourcesStatus`. */
export type AllocatedResourcesStatus = NonNullable<
  NonNullable<PodStatus['containerStatuses']>[number]['allocatedResourcesStatus']
>;

/** Everything a status is computed from, beside what the plan rests on. */
export interface StatusInput extends PlanInput {
  readonly plan: Plan;
  /** As the API has it, or as it was computed last: times of transitions, conditions of others, what is never taken back. */
  readonly before: PodStatus | undefined;
  readonly hostIps: readonly string[];
  /** By container id: what a container left as its last message (terminationMessagePath, or the end of its log). */
  readonly messages: ReadonlyMap<string, string>;
  /** Such as `containerd`, for the ids of containers. */
  readonly runtimeName: string;
  /** The health of the devices that a container holds; empty: it holds none. */
  readonly deviceHealth?: (container: string) => AllocatedResourcesStatus;
  /** By container name, for those whose container the runtime has lost. */
  readonly lost?: ReadonlyMap<string, ContainerRecord['lastExit']>;
  /** For a pod that no API server has given a class yet. */
  readonly qosClassOf?: (pod: Pod) => string;
}
