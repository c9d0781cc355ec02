import type { Pod } from '../../api/index.ts';
import { billionths, podLimits, podRequests, qosClassOf } from '../../api/index.ts';
import type { LimitsInForce } from '../usage/index.ts';
import { cpuMillis, minShares, quotaOf, sharesOf, wholeOf } from './cpu-share.ts';
import { pagesOf } from './huge-pages.ts';

/** What is written to a cgroup; what is undefined is left as it is. */
export interface GroupLimits {
  readonly cpuShares?: number | undefined;
  readonly cpuQuota?: { readonly quotaUs: number; readonly periodUs: number } | undefined;
  readonly memoryBytes?: number | undefined;
  /** Bytes by the size of the page, as the kernel writes it. */
  readonly hugePages?: ReadonlyMap<string, number> | undefined;
  readonly pids?: number | undefined;
}

export interface PodLimitSettings {
  readonly cpuQuota: { readonly isEnforced: boolean; readonly periodUs: number };
  /** podPidsLimit; undefined: not limited. */
  readonly maxPids?: number | undefined;
}

/** The limits of the group of a whole pod. Cpu and memory are limited only when each container is, or the pod itself. */
export function groupLimitsOf(pod: Pod, { cpuQuota, maxPids }: PodLimitSettings): GroupLimits {
  const pids = maxPids === undefined ? {} : { pids: maxPids };
  const qos = qosClassOf(pod);
  if (qos === 'BestEffort') return { cpuShares: minShares, ...pids };
  const requests = podRequests(pod, { withOverhead: true });
  const limits = podLimits(pod, { withOverhead: true });
  const hasAll = qos === 'Guaranteed';
  const quotaUs = quotaOf(cpuMillis(limits.get('cpu')), cpuQuota.periodUs);
  const limitsCpu = cpuQuota.isEnforced && quotaUs > 0 && (hasAll || isLimited(pod, 'cpu'));
  const memoryBytes = wholeOf(limits.get('memory'));
  return {
    cpuShares: sharesOf(cpuMillis(requests.get('cpu'))),
    ...(limitsCpu ? { cpuQuota: { quotaUs, periodUs: cpuQuota.periodUs } } : {}),
    ...(memoryBytes > 0 && (hasAll || isLimited(pod, 'memory')) ? { memoryBytes } : {}),
    hugePages: pagesOf(requests),
    ...pids,
  };
}

function isLimited({ spec }: Pod, name: string): boolean {
  if (isPositive(spec?.resources?.limits?.[name])) return true;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return containers.every(({ resources }) => isPositive(resources?.limits?.[name]));
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && billionths(quantity) > 0n;
}

/** The shares of the group of all Burstable pods: all that they request together. */
export function burstableShares(pods: readonly Pod[]): number {
  const burstable = pods.filter((pod) => qosClassOf(pod) === 'Burstable');
  const requested = burstable.map((pod) => podRequests(pod, { withOverhead: true }).get('cpu') ?? 0n);
  return sharesOf(cpuMillis(requested.reduce((left, right) => left + right, 0n)));
}

/**
 * Of what a group is to have, what it has less of now. A group is given that before those in it get more, since they cannot have more
 * than it has; it keeps what it has more until those in it have less.
 */
export function raisesOf(wanted: GroupLimits, inForce: LimitsInForce): GroupLimits {
  const { cpuShares, cpuQuota, memoryBytes } = wanted;
  const isLess = (have: number | undefined, want: number) => have !== undefined && have < want;
  const cpus = cpuQuota === undefined ? 0 : cpuQuota.quotaUs / cpuQuota.periodUs;
  return {
    ...(cpuShares !== undefined && isLess(inForce.cpuShares, cpuShares) ? { cpuShares } : {}),
    ...(cpuQuota !== undefined && isLess(inForce.cpus, cpus) ? { cpuQuota } : {}),
    ...(memoryBytes !== undefined && isLess(inForce.memoryBytes, memoryBytes) ? { memoryBytes } : {}),
  };
}
