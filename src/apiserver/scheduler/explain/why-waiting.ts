import type { Lease, PlacementWait, Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import { isLeaseHeld } from '../../controllers/index.ts';

/** What is known of the one who is to place a pod. */
export interface Placer {
  /** The scheduler of this control plane; undefined: it has none. */
  readonly own: string | undefined;
  /** The Lease with which the reference's scheduler says that it is at work, where that has the same name. */
  readonly lease: Lease['spec'];
  readonly nowMs: number;
}

const wait = (reason: string, message: string): PlacementWait => ({ reason, message });

/** Why a pod is not placed, whatever the nodes are; undefined: it waits for a node that fits. */
export function findObstacle(pod: Pod, { own, lease, nowMs }: Placer): PlacementWait | undefined {
  const { nodeName, schedulingGates = [], schedulerName = '' } = pod.spec ?? {};
  if (nodeName) return wait('Assigned', `it has the node ${nodeName}`);
  if (podHasEnded(pod)) return wait('Ended', 'it has ended');
  if (pod.metadata?.deletionTimestamp !== undefined) return wait('BeingDeleted', 'it is being deleted');
  if (schedulingGates.length > 0) {
    const names = schedulingGates.map(({ name }) => name).join(', ');
    return wait('SchedulingGated', `scheduling gates hold it back, which another program removes: ${names}`);
  }
  const named = `the scheduler ${schedulerName}, which it names in spec.schedulerName`;
  if (own === undefined)
    return wait(
      'SchedulerOff',
      `the scheduler of this control plane is off (--scheduler=false): it waits for ${named}`,
    );
  if (schedulerName !== own)
    return wait('OtherScheduler', `it waits for ${named}; this control plane places pods of ${own}`);
  if (isLeaseHeld(lease, nowMs)) {
    const holder = lease?.holderIdentity ?? '';
    return wait(
      'OtherSchedulerAtWork',
      `${holder} holds the Lease kube-system/kube-scheduler and is to place it`,
    );
  }
  return undefined;
}

/** What a pod waits for that its scheduler may place. */
export function describeProgress(
  pod: Pod,
  {
    binding,
    failures,
    fits,
    summary,
  }: { binding: string | undefined; failures: number; fits: number; summary: string },
): PlacementWait {
  if (binding !== undefined) return wait('BeingBound', `it is being bound to the node ${binding}`);
  if (failures > 0 && fits > 0) {
    const times = failures === 1 ? 'once' : `${failures} times`;
    return wait(
      'BindingFailed',
      `it could not be bound ${times}, and is tried again within 10 s; the log of the control plane says why`,
    );
  }
  if (fits > 0) return wait('Queued', 'it fits, and its turn comes');
  const nominated = pod.status?.nominatedNodeName;
  if (nominated) return wait('Preempting', `less important pods end for it on the node ${nominated}`);
  return wait('NoNodeFits', summary);
}
