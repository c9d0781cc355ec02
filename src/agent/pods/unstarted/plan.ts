import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import { annotationOf, mirrorAnnotation } from '../names.ts';
import { notStartedReason } from '../status.ts';
import type { RuntimePods } from './runtime-pods.ts';

export interface UnstartedPlan {
  /** Pods whose status does not say yet that they are not started. */
  readonly report: readonly Pod[];
  /** Pods that are being deleted, and of which nothing runs here: their deletion is confirmed. */
  readonly confirm: readonly Pod[];
}

/**
 * Decides what to say of the pods that the API has for this node. Mirror pods belong to their manifests. `runtimeName`: that
 * of the runtime that was asked, such as `containerd`.
 */
export function planUnstarted(
  onApi: readonly Pod[],
  inRuntime: RuntimePods,
  runtimeName: string,
): UnstartedPlan {
  const pods = onApi.filter((pod) => annotationOf(pod, mirrorAnnotation) === undefined);
  return {
    report: pods.filter((pod) => isUnreported(pod) && !isIn(inRuntime, pod)),
    confirm: pods.filter((pod) => isWaitingForDeletion(pod) && isNowhere(pod, inRuntime, runtimeName)),
  };
}

/** Whether nothing needs to be asked or done. */
export function hasNothingToSay(onApi: readonly Pod[]): boolean {
  const { report } = planUnstarted(onApi, new Set(), '');
  return report.length === 0 && !onApi.some(isWaitingForDeletion);
}

function isUnreported(pod: Pod): boolean {
  if (pod.metadata?.deletionTimestamp !== undefined || podHasEnded(pod) || hasStarted(pod)) return false;
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return pod.status?.reason !== notStartedReason || ready?.reason !== notStartedReason;
}

/** With a grace period of 0 it waits for others: for its finalizers. */
function isWaitingForDeletion({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== 0;
}

/** By its status another agent has started it: each writes the time before it starts anything. */
function hasStarted(pod: Pod): boolean {
  const { phase = '', startTime } = pod.status ?? {};
  if (phase !== '' && phase !== 'Pending') return true;
  return startTime !== undefined || listContainerIds(pod).length > 0;
}

/** As `RUNTIME://ID`. */
function listContainerIds({ status = {} }: Pod): string[] {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.flatMap(({ containerID = '' }) => (containerID === '' ? [] : [containerID]));
}

function isIn(inRuntime: RuntimePods, { metadata }: Pod): boolean {
  return typeof inRuntime !== 'string' && inRuntime.has(metadata?.uid ?? '');
}

/** What another agent has started may run on without a runtime, or in another one than that which was asked. */
function isNowhere(pod: Pod, inRuntime: RuntimePods, runtimeName: string): boolean {
  if (inRuntime === 'unknown' || isIn(inRuntime, pod)) return false;
  if (!hasStarted(pod)) return true;
  const ids = listContainerIds(pod);
  return inRuntime !== 'none' && ids.length > 0 && ids.every((id) => id.startsWith(`${runtimeName}://`));
}
