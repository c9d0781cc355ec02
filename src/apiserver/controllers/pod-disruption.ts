import type { Pod } from '../../api/index.ts';
import { podKind, StatusError } from '../../api/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Disruption } from '../registry/index.ts';
import { withDisruption } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** `changed`: it is another one by now, or has changed; nothing was deleted. */
export type Disrupted = 'deleted' | 'gone' | 'changed';

/** Deletes a pod with its grace period, after writing the reason into its status. */
export function createPodDisruptor(
  { registry, clock }: Pick<ControllerOptions, 'registry' | 'clock'>,
  disruption: Disruption,
): (pod: Pod) => Promise<Disrupted> {
  const pods = registry.of(podKind);

  /** Writes the reason into the pod's status. Returns the preconditions of the deletion. */
  async function writeReason({ metadata = {} }: Pod): Promise<{ uid?: string; resourceVersion?: string }> {
    const { namespace = '', name = '', uid } = metadata;
    const sameUid = uid === undefined ? {} : { uid };
    const make = (now: Pod) =>
      now.metadata?.uid === uid ? withDisruption(now, disruption, clock.now()) : now;
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

  return async (pod) => {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    try {
      await pods.delete(namespace, name, await writeReason(pod), context);
      return 'deleted';
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason === 'Conflict') return 'changed';
      if (error.reason === 'NotFound') return 'gone';
      throw error;
    }
  };
}
