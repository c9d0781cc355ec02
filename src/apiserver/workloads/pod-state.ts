import type { Pod } from '../../api/index.ts';

/** Whether it has neither ended nor is being deleted. */
export function isActive({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp === undefined && !hasEnded(status?.phase);
}

/** Whether it is being deleted and runs, or may run, still. */
export function isTerminating({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined && !hasEnded(status?.phase);
}

export function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** When it became ready, wall clock, ms; undefined while it is not, or where that is not written. */
export function readySinceMs(pod: Pod): number | undefined {
  const ready = readyCondition(pod);
  const sinceMs = Date.parse(ready?.lastTransitionTime ?? '');
  return ready?.status === 'True' && !Number.isNaN(sinceMs) ? sinceMs : undefined;
}

/**
 * When it has been ready for long enough, wall clock, ms: the past where it is available now. Undefined while it is not
 * ready: that will be a change of it.
 */
export function availableAtMs(pod: Pod, minReadySeconds = 0): number | undefined {
  if (!isReady(pod)) return undefined;
  if (minReadySeconds <= 0) return 0;
  const sinceMs = readySinceMs(pod);
  return sinceMs === undefined ? undefined : sinceMs + minReadySeconds * 1000;
}

export function isAvailable(pod: Pod, minReadySeconds: number | undefined, nowMs: number): boolean {
  const atMs = availableAtMs(pod, minReadySeconds);
  return atMs !== undefined && atMs <= nowMs;
}

/** The next time, wall clock, ms, at which one of the pods becomes available only because time passes. */
export function nextAvailableMs(
  pods: readonly Pod[],
  minReadySeconds: number | undefined,
  nowMs: number,
): number | undefined {
  const times = pods.flatMap((pod) => availableAtMs(pod, minReadySeconds) ?? []).filter((ms) => ms > nowMs);
  return earliest(...times);
}

/** The first of some times of which each may be missing. */
export function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function readyCondition({ status }: Pod) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
