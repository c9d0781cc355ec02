/** What is done next for a pod, and why it waits: a pure function of everything that is known. */
export {
  askedAllocation,
  firstAllocation,
  givenTo,
  isAsked,
  isSameAllocation,
  withAllocation,
  withGiven,
  withPendingResize,
} from './allocation.ts';
export { backoffKey, nextBackoff, restartAtMs, restartWaitMs, retryAtMs, startRetryAtMs } from './backoff.ts';
export { restartCountOf } from './containers.ts';
export { planPod, planUnseen } from './plan-pod.ts';
export {
  withAttempt,
  withBegun,
  withLogged,
  withObserved,
  withReported,
  withResized,
  withRetriesDue,
  withStarted,
  withStartFailure,
} from './record.ts';
export { afterEnd, canRestartAll, hasFailed } from './restart.ts';
export { restartingAll } from './restart-all.ts';
export { formatWait } from './starts.ts';
export { ownGrace, stopStep } from './stops.ts';
export { deletionGraceOf } from './termination.ts';
export * from './types.ts';
