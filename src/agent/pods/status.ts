import type { Pod } from '../../api/index.ts';

/** Why no container of a static pod runs; kubectl shows it as the status of the pod. */
export const notStartedReason = 'NotStarted';

/**
 * The status of a pod whose manifest is right and that nobody starts: it waits, and says for what. Without times, so that
 * the same says the same.
 */
export function notStarted(nodeName: string): NonNullable<Pod['status']> {
  const message = `the manifest is valid; the agent of node ${nodeName} does not start pods`;
  const waits = (type: string) => ({ type, status: 'False', reason: notStartedReason, message });
  return {
    phase: 'Pending',
    reason: notStartedReason,
    message,
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      waits('Initialized'),
      waits('ContainersReady'),
      waits('Ready'),
    ],
  };
}
