/** What is done next for a pod, and why it waits: a pure function of everything that is known. */
export { backoffKey, nextBackoff, restartAtMs, restartWaitMs, retryAtMs, startRetryAtMs } from './backoff.ts';
export { restartCountOf } from './containers.ts';
export { planPod } from './plan-pod.ts';
export { withBegun, withObserved, withStartFailure } from './record.ts';
export { formatWait } from './starts.ts';
export * from './types.ts';
