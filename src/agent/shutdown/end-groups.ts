import type { Clock } from '../../base/index.ts';
import type { EndingPod, ShutdownPeriod } from './groups.ts';
import { groupOf, inOrder } from './groups.ts';

export interface GroupOptions {
  /** The pods that hold something of the node now. */
  pods(): readonly EndingPod[];
  /** A whole number of seconds, as runtimes take them. */
  end(uid: string, graceSeconds: number): void;
  readonly clock: Clock;
}

const lookEveryMs = 100;

/**
 * Ends the pods group by group, the least important first, each at most for its own time; what is left of a group then goes on
 * ending beside the next. A pod that appears late ends with the group that is due. Resolves when the last is over, with the
 * number of pods that have not ended, or when `signal` aborts.
 */
export async function endGroups(
  options: GroupOptions,
  periods: readonly ShutdownPeriod[],
  signal: AbortSignal,
): Promise<number> {
  const { clock, pods } = options;
  const groups = inOrder(periods);
  const ended = new Set<string>();
  const endDue = (due: number): number => {
    const left = pods().filter((pod) => groupOf(pod, groups) <= due);
    for (const pod of left) {
      const most = groups[groupOf(pod, groups)]?.graceSeconds ?? 0;
      if (!ended.has(pod.uid)) options.end(pod.uid, Math.floor(Math.min(most, pod.graceSeconds)));
      ended.add(pod.uid);
    }
    return left.length;
  };
  let left = 0;
  for (const [due, { graceSeconds }] of groups.entries()) {
    const endMs = clock.monotonicMs() + graceSeconds * 1000;
    left = endDue(due);
    while (left > 0 && clock.monotonicMs() < endMs && !signal.aborted) {
      await clock.sleep(Math.min(lookEveryMs, endMs - clock.monotonicMs()), signal);
      left = endDue(due);
    }
    if (signal.aborted) return left;
  }
  return left;
}
