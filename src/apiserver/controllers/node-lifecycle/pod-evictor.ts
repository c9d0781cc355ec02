import type { Pod } from '../../../api/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { createPodDisruptor } from '../pod-disruption.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';

/** In the reference's words. */
const disruption = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/**
 * Deletes a pod that may not stay on its node, with its grace period, after writing the reason into its status. When the
 * pod has changed by then, or another pod has its name, `retry` is called instead.
 */
export function createPodEvictor(
  options: ControllerOptions & { events: Pick<LifecycleEvents, 'podEvicted'> },
  retry: (key: string) => void,
): (key: string, pod: Pod) => Promise<void> {
  const { log, events } = options;
  const disrupt = createPodDisruptor(options, disruption);
  return async (key, pod) => {
    const result = await disrupt(pod);
    if (result === 'changed') retry(key);
    if (result !== 'deleted') return;
    events.podEvicted(pod.metadata);
    const node = pod.spec?.nodeName;
    log.info({ key, node }, 'a pod is evicted: it does not tolerate a taint of its node');
  };
}
