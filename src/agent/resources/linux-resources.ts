import type { ContainerSpec, Pod } from '../../api/index.ts';
import { billionths, hasPodResources, podLimits, podRequests } from '../../api/index.ts';
import { cpuMillis, quotaOf, sharesOf, wholeOf } from './cpu-share.ts';
import { pagesOf } from './huge-pages.ts';
import { oomScoreOf } from './oom-score.ts';

/** Of the node, for the limits of its containers. */
export interface ResourceSettings {
  readonly cpuQuota: { readonly isEnforced: boolean; readonly periodUs: number };
  readonly capacity: Readonly<Record<string, string>>;
  /** Undefined: version 1 without swap accounting and huge pages. */
  readonly cgroups?: NodeCgroups | undefined;
}

/** What the cgroups of this node can do; see `readNodeCgroups`. */
export interface NodeCgroups {
  readonly version: 1 | 2;
  /** Whether swap can be limited. */
  readonly hasSwapLimit: boolean;
  /** As the kernel writes them: `2MB`. */
  readonly pageSizes: readonly string[];
  /** singleProcessOOMKill of the configuration: only with version 2 a container can be killed as a whole. */
  readonly killsSingleProcess: boolean;
}

/** Limits as the runtime gets them; what is absent is left to it. */
export interface LinuxLimits {
  readonly cpuShares?: bigint;
  /** Microseconds of each period; 0: not limited. */
  readonly cpuQuota?: bigint;
  readonly cpuPeriod?: bigint;
  readonly memoryLimitInBytes?: bigint;
  /** Memory and swap together, with version 1 of the cgroups. */
  readonly memorySwapLimitInBytes?: bigint;
  readonly oomScoreAdj?: bigint;
  readonly hugepageLimits?: { pageSize: string; limit: bigint }[];
  /** Files of version 2. */
  readonly unified?: Record<string, string>;
}

interface Wanted {
  readonly cpuRequest: bigint | undefined;
  readonly cpuLimit: bigint | undefined;
  readonly memoryLimit: bigint | undefined;
}

/** The limits of one container, as the runtime gets them. */
export function containerResources(pod: Pod, container: ContainerSpec, node: ResourceSettings): LinuxLimits {
  const { requests, limits } = container.resources ?? {};
  const ofPod = hasPodResources(pod) ? pod.spec?.resources?.limits : undefined;
  const resources = convert(
    {
      cpuRequest: parseAny(requests?.['cpu']),
      cpuLimit: parseLimit(limits?.['cpu']) ?? parseLimit(ofPod?.['cpu']),
      memoryLimit: parseLimit(limits?.['memory']) ?? parseLimit(ofPod?.['memory']),
    },
    node,
  );
  return {
    ...resources,
    ...withoutSwap(resources, node.cgroups),
    oomScoreAdj: BigInt(oomScoreOf(pod, container, billionths(node.capacity['memory'] ?? '0'))),
    hugepageLimits: hugePageLimits(limits, node.cgroups),
  };
}

/** The limits of the pod as a whole, without its overhead: a hint for runtimes that run a pod in a machine of its own. */
export function sandboxResources(pod: Pod, node: ResourceSettings): LinuxLimits {
  const requests = podRequests(pod, { withOverhead: false });
  const limits = podLimits(pod, { withOverhead: false });
  const cpuLimit = limits.get('cpu');
  return convert({ cpuRequest: requests.get('cpu'), cpuLimit, memoryLimit: limits.get('memory') }, node);
}

/** The overhead as a hint of the same sort; empty for a pod without one. */
export function overheadResources({ spec }: Pod, node: ResourceSettings): LinuxLimits {
  if (spec?.overhead === undefined) return {};
  const cpu = parseAny(spec.overhead['cpu']) ?? 0n;
  return convert({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: parseAny(spec.overhead['memory']) }, node);
}

function convert({ cpuRequest, cpuLimit, memoryLimit }: Wanted, node: ResourceSettings): LinuxLimits {
  const { cpuQuota, cgroups } = node;
  const bytes = wholeOf(memoryLimit);
  const quota = quotaOf(cpuMillis(cpuLimit), cpuQuota.periodUs);
  const killsGroup = cgroups?.version === 2 && !cgroups.killsSingleProcess;
  return {
    cpuShares: BigInt(sharesOf(cpuMillis(cpuRequest ?? cpuLimit))),
    ...(bytes === 0 ? {} : { memoryLimitInBytes: BigInt(bytes) }),
    ...(cpuQuota.isEnforced ? { cpuQuota: BigInt(quota), cpuPeriod: BigInt(cpuQuota.periodUs) } : {}),
    ...(killsGroup ? { unified: { 'memory.oom.group': '1' } } : {}),
  };
}

/** Without a limit of memory there is none of swap with version 1, where both are one number. */
function withoutSwap(resources: LinuxLimits, cgroups: NodeCgroups | undefined): LinuxLimits {
  if (cgroups?.hasSwapLimit !== true) return {};
  if (cgroups.version === 2) return { unified: { ...resources.unified, 'memory.swap.max': '0' } };
  const { memoryLimitInBytes } = resources;
  return memoryLimitInBytes === undefined ? {} : { memorySwapLimitInBytes: memoryLimitInBytes };
}

/** Every size of the node has a limit, or the container could use pages that it did not ask for. */
function hugePageLimits(
  limits: Readonly<Record<string, string>> | undefined,
  cgroups: NodeCgroups | undefined,
) {
  const wanted = pagesOf(Object.entries(limits ?? {}).map(([name, text]) => [name, billionths(text)]));
  return (cgroups?.pageSizes ?? []).map((pageSize) => ({
    pageSize,
    limit: BigInt(wanted.get(pageSize) ?? 0),
  }));
}

function parseAny(quantity: string | undefined): bigint | undefined {
  return quantity === undefined ? undefined : billionths(quantity);
}

/** A limit of zero counts as none, as in the reference. */
function parseLimit(quantity: string | undefined): bigint | undefined {
  const amount = parseAny(quantity);
  return amount === 0n ? undefined : amount;
}
