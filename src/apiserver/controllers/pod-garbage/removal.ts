import type { Pod } from '../../../api/index.ts';
import { formatTime, podHasEnded, podKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** A pod whose status is refused for one of these reasons is deleted without it. */
const statusRefusals: readonly string[] = ['Invalid', 'RequestEntityTooLarge'];

/** Why a pod is removed that no agent will stop. */
export interface Cause {
  /** For the log. */
  why: string;
  /** For the pod's condition DisruptionTarget; undefined for a pod that was being deleted anyway. */
  disruption?: string;
}

/**
 * Creates the function that deletes a pod at once, in the given state; it does nothing when the pod has changed since. A
 * pod that had not terminated becomes Failed first, so that watchers learn what happened to it; as in the reference.
 */
export function createPodRemover({ registry, clock, log }: ControllerOptions) {
  const pods = registry.of(podKind);

  /** Makes the pod Failed. Returns the revision to delete. */
  async function markFailed({ revision }: Stored, pod: Pod, cause: Cause): Promise<number | undefined> {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const object = withFailure(pod, cause, clock.now());
    try {
      return (await pods.update(namespace, name, object, 'status', context)).revision;
    } catch (error) {
      // validation has become stricter since it was created, or it is too large: it is deleted all the same
      if (error instanceof StatusError && statusRefusals.includes(error.reason)) return revision;
      throw error;
    }
  }

  return async (stored: Stored, pod: Pod, cause: Cause): Promise<void> => {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    try {
      const revision = podHasEnded(pod) ? stored.revision : await markFailed(stored, pod, cause);
      await pods.delete(namespace, name, { gracePeriodSeconds: 0, resourceVersion: `${revision}` }, context);
      log.info({ key: stored.key, node: pod.spec?.nodeName }, `a pod is removed: ${cause.why}`);
    } catch (error) {
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  };
}

function withFailure(pod: Pod, { disruption }: Cause, now: number): Pod {
  const { conditions = [], ...status } = pod.status ?? {};
  const others = conditions.filter(({ type }) => type !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: disruption ?? '',
    lastTransitionTime: formatTime(now),
  };
  const all = disruption === undefined ? conditions : [...others, condition];
  return { ...pod, status: { ...status, phase: 'Failed', conditions: all } };
}
