import type { Job, Pod } from '../../../api/index.ts';
import { apiVersionOf, jobKind, selectsLabels } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { controller, findReadable, isProvenAbsent, isUnreadable } from '../../controllers/index.ts';
import { confirm } from '../../registry/index.ts';
import { controllerOf } from '../owned-objects.ts';
import type { WorkloadOptions } from '../workload-controller.ts';
import { finishedCondition, isManagedByOther, isTracked } from './job-pods.ts';
import { releasePod } from './release-pod.ts';

/**
 * Lets go of pods that have the finalizer of a Job and have no Job: it was deleted, with or without them, maybe while nobody
 * watched. What a Job may still adopt is left to it.
 */
export function jobOrphans(options: WorkloadOptions): Service {
  const { registry, storage, pods, standBy } = options;
  const jobs = registry.of(jobKind);
  const keyOf = ({ metadata }: Pod) =>
    pods.resource.prefix(metadata?.namespace ?? '') + (metadata?.name ?? '');

  function readJob(key: string): Job | undefined {
    const stored = findReadable(storage, key);
    return stored && jobs.encoding.read(stored);
  }

  /** Throws when that cannot be found out. */
  async function hasJob(pod: Pod): Promise<boolean> {
    const owner = controllerOf(pod);
    const namespace = pod.metadata?.namespace ?? '';
    if (owner === undefined) return mayBeAdopted(pod, namespace);
    if (owner.kind !== jobKind.kind || owner.apiVersion !== apiVersionOf(jobKind, registry.groupSuffix))
      return true; // another's; not for us to say
    const key = jobs.prefix(namespace) + owner.name;
    if (await isProvenAbsent(storage, key)) return false;
    if (isUnreadable(storage, key)) throw new Error(`the Job of pod ${keyOf(pod)} cannot be read`);
    if (readJob(key)?.metadata?.uid === owner.uid) return true;
    await confirm(storage, storage.applied);
    return readJob(key)?.metadata?.uid === owner.uid;
  }

  function mayBeAdopted({ metadata }: Pod, namespace: string): boolean {
    if (metadata?.deletionTimestamp !== undefined) return false;
    return storage.list(jobs.prefix(namespace), '', 0).items.some(({ key }) => {
      const job = readJob(key);
      const selector = job?.spec?.selector;
      if (job === undefined || selector === undefined || isManagedByOther(job)) return false;
      const goesOn = job.metadata?.deletionTimestamp === undefined && finishedCondition(job) === undefined;
      return goesOn && selectsLabels(selector, metadata?.labels ?? {});
    });
  }

  return controller('job-orphans', options, (enqueue, signal) => {
    let isBack = false;

    async function work(key: string): Promise<void> {
      if (standBy.isOtherAtWork()) {
        void goOn();
        return;
      }
      const stored = findReadable(storage, key);
      const pod = stored && pods.resource.encoding.read(stored);
      if (pod === undefined || !isTracked(pod) || (await hasJob(pod))) return;
      await releasePod(pods.resource, pod);
    }

    /** Looks at all pods when the other one has gone. */
    async function goOn(): Promise<void> {
      if (isBack) return;
      isBack = true;
      await standBy.untilFree(signal);
      isBack = false;
      for (const { key } of storage.list(pods.resource.prefix(''), '', 0).items) enqueue(key);
    }

    const enqueueTracked = (pod: Pod | undefined) => {
      if (pod !== undefined && isTracked(pod)) enqueue(keyOf(pod));
    };
    return {
      follows: [
        {
          resource: pods,
          present: (stored) => enqueueTracked(pods.read(stored)),
          added: (stored) => enqueueTracked(pods.read(stored)),
          changed: (stored) => enqueueTracked(pods.read(stored)),
        },
        {
          resource: jobs,
          changed: ({ key }) => {
            for (const pod of pods.orphansIn(jobs.placeOf(key).namespace)) enqueueTracked(pod);
          },
          gone: (stored) => {
            const uid = jobs.encoding.read(stored).metadata?.uid ?? '';
            for (const pod of pods.ownedBy(uid)) enqueueTracked(pod);
          },
        },
      ],
      work,
    };
  });
}
