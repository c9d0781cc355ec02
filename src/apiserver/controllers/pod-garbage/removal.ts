import type { Pod } from '../../../api/index.ts';
import { formatTime, podHasEnded, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';

const context = { user: controlPlaneUser, dryRun: false };
const untellable: readonly string[] = ['Invalid', 'RequestEntityTooLarge'];

/** Why a pod goes that nobody will stop. */
export interface Cause {
  /** For the log. */
  why: string;
  /** Told in the pod's condition DisruptionTarget, where it had not been deleted otherwise. */
  disruption?: string;
}

/**
 * Deletes a pod at once, as it was seen; nothing when it has changed since. One that had not ended is Failed first, so
 * that whoever watches knows what became of it; as in the reference.
 */
export function podRemoval({ registry, clock, log }: ControllerOptions) {
  const pods = registry.of(podKind);

  /** The revision to delete; undefined when it cannot be told. */
  async function fail({ revision }: Stored, pod: Pod, cause: Cause): Promise<number | undefined> {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const object = failed(pod, cause, clock.now());
    try {
      return (await pods.update(namespace, name, object, 'status', context)).revision;
    } catch (error) {
      // a rule has become stricter since it was made, or there is no room in it for more: that does not keep it
      if (error instanceof StatusError && untellable.includes(error.reason)) return revision;
      throw error;
    }
  }

  return async (stored: Stored, pod: Pod, cause: Cause): Promise<void> => {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    try {
      const revision = podHasEnded(pod) ? stored.revision : await fail(stored, pod, cause);
      await pods.delete(namespace, name, { gracePeriodSeconds: 0, resourceVersion: `${revision}` }, context);
      log.info({ key: stored.key, node: pod.spec?.nodeName }, `a pod is removed: ${cause.why}`);
    } catch (error) {
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  };
}

function failed(pod: Pod, { disruption }: Cause, now: number): Pod {
  const { conditions = [], ...status } = pod.status ?? {};
  const others = conditions.filter(({ type }) => type !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: disruption ?? '',
    lastTransitionTime: formatTime(now),
  };
  const told = disruption === undefined ? conditions : [...others, condition];
  return { ...pod, status: { ...status, phase: 'Failed', conditions: told } };
}
