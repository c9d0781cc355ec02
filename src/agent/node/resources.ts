import type { NodeStatus } from '../../api/index.ts';
import type { Measurements } from './measure.ts';
import { formatBytes, formatMillis } from './quantity.ts';
import type { Reserved, Thresholds } from './thresholds.ts';
import { amountOf } from './thresholds.ts';

export interface NodeResources {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
}

/** How many pods the node takes. */
export interface PodBounds {
  readonly maxPods: number;
  /** For each processor; default: however many. */
  readonly podsPerCore?: number | undefined;
}

/** What pods cannot use. */
export interface Withheld {
  /** The hard eviction thresholds. */
  readonly minFree: Thresholds;
  readonly reserved: Reserved;
}

/**
 * Computes capacity and allocatable like the reference: allocatable is the capacity without reservations and hard eviction
 * thresholds, and memory also without huge pages. A resource that cannot be measured is left out.
 */
export function computeResources(
  measured: Measurements,
  { maxPods, podsPerCore = Number.POSITIVE_INFINITY }: PodBounds,
  { minFree, reserved }: Withheld,
): NodeResources {
  const { memory, disk, hugePages } = measured;
  const pods = Math.min(maxPods, podsPerCore * measured.cpus);
  const capacity: Record<string, string> = { cpu: String(measured.cpus), pods: String(pods) };
  const cpu = formatMillis(measured.cpus * 1000 - reserved.cpuMillis);
  const allocatable: Record<string, string> = { ...capacity, cpu };
  let hugeBytes = 0;
  for (const { pageBytes, totalBytes } of hugePages) {
    const name = `hugepages-${formatBytes(pageBytes)}`;
    capacity[name] = formatBytes(totalBytes);
    allocatable[name] = formatBytes(totalBytes);
    hugeBytes += totalBytes;
  }
  if (memory !== undefined) {
    capacity['memory'] = formatBytes(memory.capacityBytes);
    const kept =
      Math.trunc(amountOf(minFree['memory.available'], memory.capacityBytes)) + reserved.memoryBytes;
    allocatable['memory'] = formatBytes(memory.capacityBytes - kept - hugeBytes);
  }
  if (disk !== undefined) {
    const kept =
      Math.trunc(amountOf(minFree['nodefs.available'], disk.capacityBytes)) + reserved.storageBytes;
    capacity['ephemeral-storage'] = formatBytes(disk.capacityBytes);
    allocatable['ephemeral-storage'] = formatBytes(disk.capacityBytes - kept);
  }
  return { capacity, allocatable };
}

/** Resources that another part of the agent provides; they override what is stored. */
export interface ExtraResources {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

export function withExtra(resources: NodeResources, extra: ExtraResources | undefined): NodeResources {
  return {
    capacity: { ...extra?.capacity, ...resources.capacity },
    allocatable: { ...extra?.allocatable, ...resources.allocatable },
  };
}

const ownResources = /^(?:cpu|memory|pods|ephemeral-storage|hugepages-.+)$/;

/**
 * Adds what only the stored status has: resources that others put into its capacity, all of which is allocatable, and the
 * agent's own that cannot be measured now.
 */
export function mergeStored(resources: NodeResources, previous: NodeStatus | undefined): NodeResources {
  const { capacity = {}, allocatable = {} } = previous ?? {};
  const unmeasured = Object.entries(allocatable).filter(([name]) => ownResources.test(name));
  const foreign = Object.entries(capacity).filter(([name]) => !ownResources.test(name));
  return {
    capacity: { ...capacity, ...resources.capacity },
    allocatable: { ...Object.fromEntries([...unmeasured, ...foreign]), ...resources.allocatable },
  };
}
