import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { noReason } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { PodRecord } from '../plan/index.ts';
import type { PodPartIds, RuntimeView } from '../view/types.ts';

/** A view that takes longer is reported as the reason why nothing happens. */
const lookTimeoutMs = 10_000;

/**
 * Has the view read what the runtime has of the pod, or of these parts of it. A runtime that is not there has nothing of a pod that was never
 * begun: such a one waits for it, and may end without it.
 */
export async function lookAt(
  { view, clock }: { readonly view: RuntimeView; readonly clock: Clock },
  pod: Pod,
  record: PodRecord,
  parts: PodPartIds | undefined,
  signal: AbortSignal,
): Promise<void> {
  const settled = new AbortController();
  const late = new AbortController();
  void clock.sleep(lookTimeoutMs, settled.signal).then(() => {
    if (!settled.signal.aborted) late.abort();
  });
  try {
    const uid = pod.metadata?.uid ?? '';
    const cancel = AbortSignal.any([signal, late.signal]);
    await (parts === undefined ? view.refresh(uid, cancel) : view.reread(uid, parts, cancel));
  } catch (error) {
    const isAway = error instanceof RuntimeError && error.reason === 'unavailable';
    if (isAway && !signal.aborted && isNotBegun(pod, record)) return;
    if (!late.signal.aborted || signal.aborted) throw error;
    const message = `the container runtime has not told of the pod within ${lookTimeoutMs / 1000} s`;
    throw new RuntimeError('timeout', message, { cause: error });
  } finally {
    settled.abort(noReason);
  }
}

/** By what the agent remembers, and by what another agent has reported to the API. */
export function isNotBegun({ status }: Pod, { sandboxAttempt, containers }: PodRecord): boolean {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const isReported = [...containerStatuses, ...initContainerStatuses].some(
    ({ containerID = '' }) => containerID !== '',
  );
  return sandboxAttempt === undefined && Object.keys(containers).length === 0 && !isReported;
}
