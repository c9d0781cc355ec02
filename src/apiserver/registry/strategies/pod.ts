import type { Cause, Pod } from '../../../api/index.ts';
import {
  forbiddenValue,
  formatTime,
  nodeKind,
  podChangeCauses,
  podHasEnded,
  resizedSpec,
  serviceAccountKind,
} from '../../../api/index.ts';
import type { Admittance, StoredObjects, Strategy } from '../strategy.ts';
import { withLimits, withQosClass } from './limit-ranges.ts';
import { withPriority, withSamePriority } from './pod-priority.ts';
import { withRuntimeClass } from './pod-runtime-class.ts';
import {
  checkEphemeralSecrets,
  checkMirrorPod,
  defaultAccountName,
  withServiceAccount,
} from './pod-service-account.ts';
import type { DefaultTolerations } from './pod-tolerations.ts';
import { withDefaultTolerations } from './pod-tolerations.ts';

/**
 * Each path to a pod changes its own part. A pod that a node has taken is stopped there before it goes: it stays until
 * its node's agent deletes it with a grace period of 0. `tolerations`: those that pods get; default none.
 */
export function createPodStrategy(tolerations: DefaultTolerations | undefined): Strategy<Pod> {
  const tolerating = (pod: Pod) =>
    tolerations === undefined ? pod : withDefaultTolerations(pod, tolerations);
  return {
    ...podStrategy,
    admit(next, old, how) {
      if (old === undefined) return withTopology(tolerating(admitNew(next, how)), how.stored);
      if (how.subresource === 'binding') return withTopology(next, how.stored);
      if (how.subresource === '') return tolerating(withSamePriority(next, old));
      if (how.subresource === 'ephemeralcontainers' && !isMirrorPod(next))
        checkEphemeralSecrets(next, how.stored);
      return how.subresource === 'resize' ? withLimits(next, how.stored) : next;
    },
  };
}

/** As the plugins of the reference's admission do it, in their order. */
function admitNew(pod: Pod, { context, stored }: Admittance): Pod {
  const limited = withQosClass(withLimits(pod, stored));
  if (isMirrorPod(limited)) checkMirrorPod(limited);
  const owned = isMirrorPod(limited) ? limited : withServiceAccount(limited, stored, context.dryRun);
  return withPriority(owned, stored);
}

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** A pod that has a node has the labels that say where the node is, so that its containers can learn it. */
function withTopology(pod: Pod, stored: StoredObjects): Pod {
  const { nodeName } = pod.spec ?? {};
  const labels = nodeName ? (stored.find(nodeKind, '', nodeName)?.metadata?.labels ?? {}) : {};
  const copied = Object.entries(labels).filter(([name]) => topologyLabels.includes(name));
  if (copied.length === 0) return pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, ...Object.fromEntries(copied) } },
  };
}

const podStrategy: Strategy<Pod> = {
  withoutGated: (pod, old, gates) =>
    gates.InPlacePodVerticalScaling || usesResizePolicy(old) ? pod : withoutResizePolicy(pod),
  provide(pod, namespace, stored) {
    const name = pod.spec?.serviceAccountName || pod.spec?.serviceAccount || defaultAccountName;
    if (isMirrorPod(pod) || name !== defaultAccountName) return undefined;
    if (stored.find(serviceAccountKind, namespace, name) !== undefined) return undefined;
    return stored.create(serviceAccountKind, namespace, { metadata: { name, namespace } });
  },
  beforeCreate(pod, _context, stored) {
    const owned = isMirrorPod(pod) ? pod : withAccount(pod, defaultAccountName);
    return withRuntimeClass(owned, stored);
  },
  beforeUpdate(next, old, { subresource, now }) {
    if (subresource === 'ephemeralcontainers') return next;
    if (subresource === 'resize') return resized(next, old);
    if (subresource === 'status') return observed(next, old);
    return subresource === 'binding' ? bound(next, now) : withAccount(next, old.spec?.serviceAccountName);
  },
  check: (next, old, subresource) =>
    old === undefined ? [] : [...podChangeCauses(next, old, subresource), ...mirrorCauses(next, old)],
  gracePeriod(pod, asked) {
    if (!pod.spec?.nodeName || podHasEnded(pod)) return 0;
    const seconds = asked ?? pod.spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
};

/** What marks the pods that a node makes to show what it runs of its own accord. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Such a pod is given nothing, and gives its node nothing. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata?.annotations?.[mirrorAnnotation] !== undefined;
}

/** What a pod is does not change: what it names counts for its node unless it is a mirror. */
function mirrorCauses(next: Pod, old: Pod): Cause[] {
  const [now, before] = [next, old].map(({ metadata }) => metadata?.annotations?.[mirrorAnnotation]);
  if (now === before) return [];
  const detail =
    before === undefined
      ? 'may not add mirror pod annotation'
      : 'may not remove or update mirror pod annotation';
  return [forbiddenValue(`metadata.annotations[${mirrorAnnotation}]`, detail)];
}

/** Whose token the pod would get; a manifest that does not say means what was chosen when the pod was made. */
function withAccount(pod: Pod, serviceAccountName: string | undefined): Pod {
  const { spec } = pod;
  const isKnown = spec === undefined || spec.serviceAccountName || spec.serviceAccount;
  return isKnown || !serviceAccountName ? pod : { ...pod, spec: { ...spec, serviceAccountName } };
}

function usesResizePolicy(pod: Pod | undefined): boolean {
  const { containers = [], initContainers = [] } = pod?.spec ?? {};
  return [...containers, ...initContainers].some(({ resizePolicy = [] }) => resizePolicy.length > 0);
}

function withoutResizePolicy(pod: Pod): Pod {
  const { spec } = pod;
  if (spec === undefined || !usesResizePolicy(pod)) return pod;
  const without = (containers: typeof spec.containers) =>
    containers.map(({ resizePolicy: _policy, ...container }) => container);
  const { containers, initContainers }: Partial<typeof spec> = spec; // nobody has looked yet whether it is whole
  const changed = { ...spec };
  if (containers !== undefined) changed.containers = without(containers);
  if (initContainers !== undefined) changed.initContainers = without(initContainers);
  return { ...pod, spec: changed };
}

/** What the node's agent does not tell stays; of several addresses the first stands alone too. */
function observed(next: Pod, old: Pod): Pod {
  const { podIP, podIPs = [], qosClass = old.status?.qosClass, ...status } = next.status ?? {};
  const address = podIP || podIPs[0]?.ip;
  const addresses = podIPs[0]?.ip === address ? podIPs : address === undefined ? [] : [{ ip: address }];
  return {
    ...next,
    status: {
      ...status,
      ...(qosClass === undefined ? {} : { qosClass }),
      ...(address === undefined ? {} : { podIP: address, podIPs: addresses }),
    },
  };
}

function resized(next: Pod, old: Pod): Pod {
  if (next.spec === undefined || old.spec === undefined) return next;
  return { ...next, spec: resizedSpec(next.spec, old.spec) };
}

/** It waits for room on no other node any more. */
function bound(next: Pod, now: number): Pod {
  const { nominatedNodeName: _nominated, ...status } = next.status ?? {};
  const others = (next.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: formatTime(now) };
  return { ...next, status: { ...status, conditions: [...others, scheduled] } };
}
