/** Pods from a priority on, up to that of the next group, and how long a shutdown waits for them. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly graceSeconds: number;
}

/** A pod that holds something of the node. */
export interface EndingPod {
  readonly uid: string;
  readonly priority: number;
  /** What it asks for itself. */
  readonly graceSeconds: number;
}

/** How long the groups take at most, one after the other. */
export function totalSeconds(periods: readonly ShutdownPeriod[]): number {
  return periods.reduce((sum, { graceSeconds }) => sum + graceSeconds, 0);
}

/** In the order in which they end: the least important first. */
export function inOrder(periods: readonly ShutdownPeriod[]): ShutdownPeriod[] {
  return [...periods].sort((a, b) => a.priority - b.priority);
}

/** The place of its group among `periods`, which are in order; a pod below all of them belongs to the first. */
export function groupOf({ priority }: EndingPod, periods: readonly ShutdownPeriod[]): number {
  return Math.max(
    0,
    periods.findLastIndex((period) => period.priority <= priority),
  );
}
