import type { Pod } from '../../../api/index.ts';
import { lostAtEnd, lostState } from './container-state.ts';
import { hasRun } from './phase.ts';
import type { ContainerStatus } from './pod-parts.ts';
import { initContainersOf } from './pod-parts.ts';

interface Ending {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
}

/**
 * For a pod that is over: a container of which no end is known counts as failed, if it could have run. So regular ones do
 * when the pod was initialized, and init containers up to the last of which something is known.
 */
export function withEnds(pod: Pod, { init, regular }: Ending): Ending {
  const lastRun = init.findLastIndex(hasRun);
  return {
    init: init.map((status, index) => (index <= lastRun ? withEnd(status) : status)),
    regular: wasInitialized(pod, init, regular) ? regular.map(withEnd) : regular,
  };
}

function withEnd(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated !== undefined) return status;
  const isKnown = status.started !== undefined;
  return {
    ...status,
    ready: false,
    ...(isKnown ? { started: false } : {}),
    state: { terminated: lostState(lostAtEnd) },
  };
}

function wasInitialized(
  pod: Pod,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
): boolean {
  const last = initContainersOf(pod).at(-1);
  if (last === undefined || regular.some(hasRun)) return true;
  const status = init.at(-1);
  if (last.type === 'sidecar') return status?.state?.running !== undefined && status.started === true;
  const ends = [status?.state?.terminated, status?.lastState?.terminated];
  return ends.some((end) => end?.exitCode === 0);
}
