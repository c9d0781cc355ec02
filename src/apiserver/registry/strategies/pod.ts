import type { Pod } from '../../../api/index.ts';
import { podChangeCauses, podHasEnded } from '../../../api/index.ts';
import { timestamp } from '../metadata.ts';
import type { Strategy } from '../strategy.ts';

/**
 * Each path to a pod changes its own part. A pod that a node has taken is stopped there before it goes: it stays until
 * its node's agent deletes it with a grace period of 0.
 */
export const podStrategy: Strategy<Pod> = {
  beforeUpdate(next, old, { subresource, now }) {
    if (subresource === 'ephemeralcontainers') return withEphemeralContainers(old, next);
    if (subresource === 'status') return observed(next, old);
    return subresource === 'binding' ? bound(next, now) : next;
  },
  check: (next, old, subresource) => (old === undefined ? [] : podChangeCauses(next, old, subresource)),
  gracePeriod(pod, asked) {
    if (!pod.spec?.nodeName || podHasEnded(pod)) return 0;
    const seconds = asked ?? pod.spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
};

/** Of the spec that was sent nothing else counts on this path. */
function withEphemeralContainers(old: Pod, { spec, ...next }: Pod): Pod {
  const ephemeralContainers = spec?.ephemeralContainers ?? [];
  return old.spec === undefined ? next : { ...next, spec: { ...old.spec, ephemeralContainers } };
}

/** What the node's agent does not tell stays; of several addresses the first stands alone too. */
function observed(next: Pod, old: Pod): Pod {
  const { podIP, podIPs = [], qosClass = old.status?.qosClass, ...status } = next.status ?? {};
  const address = podIP || podIPs[0]?.ip;
  const addresses = podIPs[0]?.ip === address ? podIPs : address === undefined ? [] : [{ ip: address }];
  const { ownerReferences: _given, ...metadata } = next.metadata ?? {};
  const owners = old.metadata?.ownerReferences;
  return {
    ...next,
    metadata: { ...metadata, ...(owners === undefined ? {} : { ownerReferences: owners }) },
    status: {
      ...status,
      ...(qosClass === undefined ? {} : { qosClass }),
      ...(address === undefined ? {} : { podIP: address, podIPs: addresses }),
    },
  };
}

function bound(next: Pod, now: number): Pod {
  const others = (next.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(now) };
  return { ...next, status: { ...next.status, conditions: [...others, scheduled] } };
}
