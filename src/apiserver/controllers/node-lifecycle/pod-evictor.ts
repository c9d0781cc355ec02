import type { Pod } from '../../../api/index.ts';
import { formatTime, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { Telling } from './telling.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** As the reference tells of it. */
const disruption = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/**
 * Deletes a pod that may not stay on its node, with the time that it has to end, after it is told why. When the pod is
 * another one by then, or has changed, `again` is called instead.
 */
export function podEvictor(
  { registry, clock, log, tell: events }: ControllerOptions & { tell: Pick<Telling, 'podEvicted'> },
  again: (key: string) => void,
): (key: string, pod: Pod) => Promise<void> {
  const pods = registry.of(podKind);

  /** What is to be deleted then. */
  async function tell({ metadata = {} }: Pod): Promise<{ uid?: string; resourceVersion?: string }> {
    const { namespace = '', name = '', uid } = metadata;
    const that = uid === undefined ? {} : { uid };
    const make = (now: Pod) => (now.metadata?.uid === uid ? withDisruption(now, clock.now()) : now);
    try {
      const told = await pods.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
      return { ...that, resourceVersion: `${told.revision}` };
    } catch (error) {
      // a rule may have become stricter since the pod was made, or there is no room in it for more: that does not keep it
      if (error instanceof StatusError && ['Invalid', 'RequestEntityTooLarge'].includes(error.reason))
        return that;
      throw error;
    }
  }

  return async (key, pod) => {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    try {
      await pods.delete(namespace, name, await tell(pod), context);
      events.podEvicted(pod.metadata);
      log.info(
        { key, node: pod.spec?.nodeName },
        'a pod is evicted: it does not tolerate a taint of its node',
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason === 'Conflict') again(key);
      else if (error.reason !== 'NotFound') throw error;
    }
  };
}

function withDisruption(pod: Pod, now: number): Pod {
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === disruption.type);
  if (before?.status === disruption.status && before.reason === disruption.reason) return pod;
  const others = conditions.filter((condition) => condition !== before);
  const told = { ...disruption, lastTransitionTime: formatTime(now) };
  return { ...pod, status: { ...pod.status, conditions: [...others, told] } };
}
