import type { Job } from '../../../api/index.ts';
import { jobKind, StatusError } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { context } from '../pod-control.ts';
import type { WorkloadOptions } from '../workload-controller.ts';
import { workloadController } from '../workload-controller.ts';
import { finishedCondition } from './job-pods.ts';

const form = { name: 'job-ttl', component: 'ttl-after-finished-controller', kind: jobKind };

/** Deletes Jobs, with their pods, when the time has passed that they are kept after their end. */
export function ttlAfterFinished(options: WorkloadOptions): Service {
  return workloadController(form, options, ({ resource }) => ({
    follows: [],
    async work(job) {
      const atMs = expiresAtMs(job);
      if (atMs === undefined || atMs > options.clock.now()) return atMs;
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = job.metadata ?? {};
      try {
        const deletion = { uid, resourceVersion, propagationPolicy: 'Foreground' } as const;
        await resource.delete(namespace, name, deletion, context);
      } catch (error) {
        if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
      }
      return undefined;
    },
  }));
}

/** Wall clock, ms; undefined: it is not over, or kept, or being deleted. */
export function expiresAtMs(job: Job): number | undefined {
  const seconds = job.spec?.ttlSecondsAfterFinished;
  const ended = Date.parse(finishedCondition(job)?.lastTransitionTime ?? '');
  if (seconds === undefined || Number.isNaN(ended)) return undefined;
  return job.metadata?.deletionTimestamp === undefined ? ended + seconds * 1000 : undefined;
}
