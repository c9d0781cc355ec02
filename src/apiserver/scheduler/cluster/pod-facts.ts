import type { Amounts, HostPort, Pod } from '../../../api/index.ts';
import { hostPortsOf, podUnits } from '../../../api/index.ts';
import { isMirrorPod } from '../../registry/index.ts';
import type { PodTerms, SpreadConstraint } from './terms.ts';
import { readSpread, readTerms } from './terms.ts';

/** What counts of a pod for where others run; kept for every pod that has a node, so it does not keep the object. */
export interface PodFacts extends PodTerms {
  /** NAMESPACE/NAME. */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  /** Whether it is made of a manifest of its node: to delete it ends nothing. */
  readonly isMirror: boolean;
  /** Whether it is being deleted. */
  readonly isLeaving: boolean;
  /** Whether it is being deleted to make room for a more important one. */
  readonly isPreempted: boolean;
  /** When it was started, wall clock; undefined: it was not. */
  readonly startedMs: number | undefined;
  /** What it takes from a node, in whole units (`toUnits`); only amounts above zero. */
  readonly requests: ReadonlyMap<string, number>;
  /** What scores count: as requests, but containers that request nothing count as small ones. */
  readonly scored: Load;
  readonly ports: readonly HostPort[];
  /** Names of claims in its namespace. */
  readonly claims: readonly string[];
}

export interface Load {
  /** Thousandths of a cpu. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** A pod that is to get a node. */
export interface PendingPod extends PodFacts {
  readonly pod: Pod;
  readonly spread: readonly SpreadConstraint[];
  /** Pods with the same one fit on the same nodes. */
  readonly likeness: string;
}

export function readPod(pod: Pod): PodFacts {
  const { namespace = '', name = '', uid = '', labels = {}, deletionTimestamp } = pod.metadata ?? {};
  return {
    key: `${namespace}/${name}`,
    ...{ uid, namespace, name, labels },
    priority: pod.spec?.priority ?? 0,
    isMirror: isMirrorPod(pod),
    isLeaving: deletionTimestamp !== undefined,
    isPreempted: deletionTimestamp !== undefined && isPreempted(pod),
    startedMs: Date.parse(pod.status?.startTime ?? '') || undefined,
    requests: toNumbers(podUnits(pod)),
    scored: scoredLoad(pod),
    ports: hostPortsOf(pod),
    claims: claimsOf(pod),
    ...readTerms(pod),
  };
}

export function readPending(pod: Pod): PendingPod {
  const facts = readPod(pod);
  return { ...facts, pod, spread: readSpread(pod), likeness: likenessOf(pod, facts) };
}

/** The reason of the condition DisruptionTarget of pods that end for more important ones. */
export const preemptedReason = 'PreemptionByScheduler';

function isPreempted({ status }: Pod): boolean {
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === preemptedReason;
}

/** Sums beyond 2^53 are beyond every node. */
function toNumbers(amounts: Amounts): ReadonlyMap<string, number> {
  const all = [...amounts].map(([name, amount]): [string, number] => [name, Number(amount)]);
  return new Map(all.filter(([, amount]) => amount > 0));
}

/** What a container counts as that does not say; as in the reference. */
const assumedRequests = { cpu: '100m', memory: '200Mi' };

function scoredLoad(pod: Pod): Load {
  const { spec } = pod;
  if (spec === undefined) return { cpu: 0, memory: 0 };
  const assume = <C extends NonNullable<typeof spec.containers>[number]>(container: C): C => ({
    ...container,
    resources: {
      ...container.resources,
      requests: { ...assumedRequests, ...container.resources?.requests },
    },
  });
  const amounts = podUnits({
    ...pod,
    spec: {
      ...spec,
      containers: (spec.containers ?? []).map(assume),
      initContainers: (spec.initContainers ?? []).map(assume),
    },
  });
  return { cpu: Number(amounts.get('cpu') ?? 0n), memory: Number(amounts.get('memory') ?? 0n) };
}

/** The claims that its volumes name, and those that are made for its ephemeral volumes. */
function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${metadata?.name ?? ''}-${name}`];
  });
}

function likenessOf(
  { spec }: Pod,
  { namespace, labels, requests, ports, claims, priority }: PodFacts,
): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, preemptionPolicy, resourceClaims } =
    spec ?? {};
  return JSON.stringify([
    ...[namespace, labels, [...requests], ports, claims, priority],
    ...[nodeSelector, affinity, tolerations, topologySpreadConstraints, preemptionPolicy],
    resourceClaims,
  ]);
}
