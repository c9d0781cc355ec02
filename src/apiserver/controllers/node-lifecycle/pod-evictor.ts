import type { Pod } from '../../../api/index.ts';
import { formatTime, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** In the reference's words. */
const disruption = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/**
 * Deletes a pod that may not stay on its node, with its grace period, after writing the reason into its status. When the
 * pod has changed by then, or another pod has its name, `retry` is called instead.
 */
export function createPodEvictor(
  { registry, clock, log, events }: ControllerOptions & { events: Pick<LifecycleEvents, 'podEvicted'> },
  retry: (key: string) => void,
): (key: string, pod: Pod) => Promise<void> {
  const pods = registry.of(podKind);

  /** Writes the reason into the pod's status. Returns the preconditions of the deletion. */
  async function writeReason({ metadata = {} }: Pod): Promise<{ uid?: string; resourceVersion?: string }> {
    const { namespace = '', name = '', uid } = metadata;
    const sameUid = uid === undefined ? {} : { uid };
    const make = (now: Pod) => (now.metadata?.uid === uid ? withDisruption(now, clock.now()) : now);
    try {
      const stored = await pods.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
      return { ...sameUid, resourceVersion: `${stored.revision}` };
    } catch (error) {
      // validation may have become stricter since the pod was created, or the pod is too large: it is deleted all the same
      if (error instanceof StatusError && ['Invalid', 'RequestEntityTooLarge'].includes(error.reason))
        return sameUid;
      throw error;
    }
  }

  return async (key, pod) => {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    try {
      await pods.delete(namespace, name, await writeReason(pod), context);
      events.podEvicted(pod.metadata);
      log.info(
        { key, node: pod.spec?.nodeName },
        'a pod is evicted: it does not tolerate a taint of its node',
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason === 'Conflict') retry(key);
      else if (error.reason !== 'NotFound') throw error;
    }
  };
}

function withDisruption(pod: Pod, now: number): Pod {
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === disruption.type);
  if (before?.status === disruption.status && before.reason === disruption.reason) return pod;
  const others = conditions.filter((condition) => condition !== before);
  const added = { ...disruption, lastTransitionTime: formatTime(now) };
  return { ...pod, status: { ...pod.status, conditions: [...others, added] } };
}
