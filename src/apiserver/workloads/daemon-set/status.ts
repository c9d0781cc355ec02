import { isAvailable, isReady } from '../pod-state.ts';
import type { DaemonView } from './manage.ts';
import { isOf, oldestFirst } from './pods-on-nodes.ts';

/** The numbers of the status. On each node the oldest pod counts. */
export function countDaemons({ fits, pods, hash, minReadySeconds, nowMs }: DaemonView) {
  let [desired, current, misplaced, ready, available, updated] = [0, 0, 0, 0, 0, 0];
  for (const [node, fit] of fits) {
    const [oldest] = oldestFirst(pods.get(node) ?? []);
    if (fit !== 'run') {
      if (oldest !== undefined) misplaced++;
      continue;
    }
    desired++;
    if (oldest === undefined) continue;
    current++;
    if (isReady(oldest)) ready++;
    if (isAvailable(oldest, minReadySeconds, nowMs)) available++;
    if (isOf(oldest, hash)) updated++;
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misplaced,
    desiredNumberScheduled: desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
}
