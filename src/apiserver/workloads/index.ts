import { controllerRevisionKind, podKind, replicaSetKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { ControllerOptions } from '../controllers/index.ts';
import { StandBy } from '../controllers/index.ts';
import { cronJobs } from './cron-job/index.ts';
import { daemonSets } from './daemon-set/index.ts';
import { deployments } from './deployments/service.ts';
import { endpoints } from './endpoints/service.ts';
import { jobOrphans, jobs, ttlAfterFinished } from './job/index.ts';
import { OwnedObjects } from './owned-objects.ts';
import { replicaSets, replicationControllers } from './replicas/index.ts';
import { statefulSets } from './stateful-set/index.ts';
import type { WorkloadOptions } from './workload-controller.ts';

/** The Lease of the reference's controller manager, which does the same. */
export const controllerManagerLease = 'kube-controller-manager';

/** What makes pods of the kinds of workloads, each as a service. */
export function workloadControllers(
  options: ControllerOptions & Pick<WorkloadOptions, 'taintDomain'>,
): readonly Service[] {
  const sets = new OwnedObjects(options, replicaSetKind);
  const workloads: WorkloadOptions = {
    ...options,
    standBy: new StandBy(options, {
      lease: controllerManagerLease,
      other: 'a kube-controller-manager',
      own: 'what makes pods of workloads here',
    }),
    pods: new OwnedObjects(options, podKind),
    revisions: new OwnedObjects(options, controllerRevisionKind),
  };
  return [
    deployments(workloads, sets),
    replicaSets(workloads, sets),
    replicationControllers(workloads),
    daemonSets(workloads),
    statefulSets(workloads),
    endpoints(workloads),
    jobs(workloads),
    jobOrphans(workloads),
    ttlAfterFinished(workloads),
    cronJobs(workloads),
  ];
}
