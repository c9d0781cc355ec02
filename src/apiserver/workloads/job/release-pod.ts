import type { ObjectMeta, Pod } from '../../../api/index.ts';
import type { Resource } from '../../registry/index.ts';
import { context, ifThere } from '../pod-control.ts';
import { trackingFinalizer } from './job-pods.ts';

/** Takes the finalizer off the pod that was looked at; no failure where it is gone. */
export async function releasePod(pods: Resource<Pod>, { metadata }: Pod): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  const release = (now: ObjectMeta): ObjectMeta => {
    const { finalizers = [], ...rest } = now;
    const left = finalizers.filter((each) => each !== trackingFinalizer);
    if (left.length === finalizers.length) return now;
    return left.length === 0 ? rest : { ...rest, finalizers: left };
  };
  await ifThere(pods.changeMetadata({ namespace, name }, uid, release, context));
}
