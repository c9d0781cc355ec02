import type { Pod } from '../../api/index.ts';

/** Why no container of a static pod runs; kubectl prints it as the status of the pod. */
export const notStartedReason = 'NotStarted';

/**
 * The status of a pod whose manifest is valid and that the agent does not start. It has no times, so that equal states
 * have equal statuses.
 */
export function notStartedStatus(nodeName: string): NonNullable<Pod['status']> {
  const message = `the manifest is valid; the agent of node ${nodeName} does not start pods`;
  const waitingCondition = (type: string) => ({ type, status: 'False', reason: notStartedReason, message });
  return {
    phase: 'Pending',
    reason: notStartedReason,
    message,
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      waitingCondition('Initialized'),
      waitingCondition('ContainersReady'),
      waitingCondition('Ready'),
    ],
  };
}
