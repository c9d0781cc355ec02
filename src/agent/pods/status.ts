import type { Pod } from '../../api/index.ts';

/** Why no container of a pod runs; kubectl prints it as the status of the pod. */
export const notStartedReason = 'NotStarted';

/** The status of a static pod whose manifest is valid and that the agent does not start. */
export function notStartedStatus(nodeName: string): NonNullable<Pod['status']> {
  return statusWith(`the manifest is valid; the agent of node ${nodeName} does not start pods`);
}

/** The status of a pod of the API that is bound to this node. */
export function unstartedStatus(nodeName: string): NonNullable<Pod['status']> {
  return statusWith(
    `the agent of node ${nodeName} does not start pods; delete this pod and run it on another node`,
  );
}

/** It has no times, so that equal states have equal statuses. */
function statusWith(message: string): NonNullable<Pod['status']> {
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
