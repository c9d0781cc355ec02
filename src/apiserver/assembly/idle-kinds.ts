import { leaseKind } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Advice, Registry } from '../registry/index.ts';

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

/** Kinds that restrict what clients may do, which nothing here enforces. */
const notEnforced: Readonly<Record<string, string>> = {
  limitranges: 'LimitRanges',
  poddisruptionbudgets: 'PodDisruptionBudgets',
  resourcequotas: 'ResourceQuotas',
};

/** Says of objects that nothing acts on that it is so: nobody should wait for pods that no one makes. */
export function idleKindAdvice(registry: () => Registry, clock: Pick<Clock, 'now'>): Advice {
  return (resource) => {
    const restriction = notEnforced[resource];
    if (restriction !== undefined) return [`nothing in nodeward enforces ${restriction}`];
    const object = forControllers[resource];
    if (object === undefined || isControllerManagerAtWork(registry(), clock.now())) return [];
    return [
      `nothing acts on ${object}: no kube-controller-manager is at work, and nodeward has no controller for it`,
    ];
  };
}

/** Whether one renews its Lease. */
function isControllerManagerAtWork(registry: Registry, nowMs: number): boolean {
  const leases = registry.of(leaseKind);
  const stored = leases.storage.get(`${leases.prefix('kube-system')}kube-controller-manager`);
  const {
    holderIdentity,
    renewTime = '',
    leaseDurationSeconds = 0,
  } = (stored && leases.encoding.read(stored).spec) ?? {};
  return Boolean(holderIdentity) && Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs;
}
