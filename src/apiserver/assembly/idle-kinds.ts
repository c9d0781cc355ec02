import { leaseKind } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { isLeaseHeld } from '../controllers/index.ts';
import type { Advice, Registry } from '../registry/index.ts';
import { controllerManagerLease } from '../workloads/index.ts';

/** Kinds that are stored for kube-controller-manager: by resource, how one of them is called. */
const forControllers: Readonly<Record<string, string>> = {
  cronjobs: 'a CronJob',
  daemonsets: 'a DaemonSet',
  deployments: 'a Deployment',
  horizontalpodautoscalers: 'a HorizontalPodAutoscaler',
  jobs: 'a Job',
  replicasets: 'a ReplicaSet',
  replicationcontrollers: 'a ReplicationController',
  statefulsets: 'a StatefulSet',
};

/** Those of them that the workload controllers act on, where these are on. */
const actedOn: ReadonlySet<string> = new Set([
  'cronjobs',
  'daemonsets',
  'deployments',
  'jobs',
  'replicasets',
  'replicationcontrollers',
  'statefulsets',
]);

/** Says of objects that nothing acts on that it is so: nobody should wait for pods that no one makes. */
export function idleKindAdvice(
  registry: () => Registry,
  clock: Pick<Clock, 'now'>,
  areWorkloadsOn: boolean,
): Advice {
  return (resource) => {
    const object = forControllers[resource];
    const isOwn = actedOn.has(resource);
    if (object === undefined || (isOwn && areWorkloadsOn)) return [];
    if (isAtWork(registry(), controllerManagerLease, clock.now())) return [];
    const own = isOwn ? "nodeward's own is switched off" : 'nodeward has no controller for it';
    return [`nothing acts on ${object}: no kube-controller-manager is at work, and ${own}`];
  };
}

/** Whether a program of the reference renews its Lease of that name. */
export function isAtWork(registry: Registry, lease: string, nowMs: number): boolean {
  const leases = registry.of(leaseKind);
  const stored = leases.storage.get(leases.prefix('kube-system') + lease);
  return isLeaseHeld(stored && leases.encoding.read(stored).spec, nowMs);
}
