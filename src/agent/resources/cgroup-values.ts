import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readKernelFile } from '../../base/index.ts';
import type { CgroupPath } from './cgroup-names.ts';
import type { CgroupTree } from './cgroup-tree.ts';
import { listFolders } from './cgroup-tree.ts';
import type { GroupLimits } from './pod-limits.ts';

/*
 * What the files of a cgroup say. They are the kernel's, but anything may be in their place: what is not a number of its sort counts
 * as not known, and never as a small number.
 */

/** The limits in force. Undefined: not known; infinity: not limited. */
export interface LimitsInForce {
  readonly cpuShares?: number | undefined;
  /** Of a processor: quota by period. */
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
}

/** Version 1 has no word for none: it is the largest number of whole pages. */
const minUnlimitedBytes = 2 ** 62;

export function readLimits(tree: CgroupTree, path: CgroupPath): LimitsInForce {
  const read = (file: string) => readFileOf(tree, path, file);
  if (tree.version === 2) {
    const [quota = '', period = ''] = (read('cpu.max') ?? '').trim().split(' ');
    return { cpus: toCpus(quota, period), memoryBytes: toAmount(read('memory.max')) };
  }
  const bytes = toAmount(read('memory.limit_in_bytes'));
  return {
    cpuShares: toAmount(read('cpu.shares')),
    cpus: toCpus(read('cpu.cfs_quota_us') ?? '', read('cpu.cfs_period_us') ?? ''),
    memoryBytes: bytes !== undefined && bytes >= minUnlimitedBytes ? Number.POSITIVE_INFINITY : bytes,
  };
}

/** Bytes of memory that cannot be taken back without harm: without file contents that were not used lately. */
export function readMemoryUse(tree: CgroupTree, path: CgroupPath): number | undefined {
  const names =
    tree.version === 2
      ? { usage: 'memory.current', unused: 'inactive_file' }
      : { usage: 'memory.usage_in_bytes', unused: 'total_inactive_file' };
  const usage = toAmount(readFileOf(tree, path, names.usage));
  if (usage === undefined || !Number.isFinite(usage)) return undefined;
  const stat = readFileOf(tree, path, 'memory.stat') ?? '';
  const unused = toAmount(new RegExp(`^${names.unused} (\\d+)$`, 'm').exec(stat)?.[1]) ?? 0;
  return Math.max(0, usage - unused);
}

/** The group of a container in that of its pod; each runtime and driver writes more around the id. */
export function findContainerGroup(
  tree: CgroupTree,
  pod: CgroupPath,
  containerId: string,
): CgroupPath | undefined {
  if (containerId === '') return undefined;
  for (const root of tree.roots) {
    const names = listFolders(join(root, ...pod)).map((folder) => basename(folder));
    const name = names.find((each) => each.includes(containerId));
    if (name !== undefined) return [...pod, name];
  }
  return undefined;
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

/** Of the hierarchy that has it. */
function readFileOf({ roots }: CgroupTree, path: CgroupPath, file: string): string | undefined {
  const found = roots.map((root) => join(root, ...path, file)).find((each) => existsSync(each));
  return found === undefined ? undefined : readKernelFile(found);
}

function toAmount(text: string | undefined): number | undefined {
  const plain = text?.trim() ?? '';
  if (plain === 'max') return Number.POSITIVE_INFINITY;
  return /^\d{1,20}$/.test(plain) ? Number(plain) : undefined;
}

function toCpus(quota: string, period: string): number | undefined {
  if (quota.trim() === 'max' || quota.trim() === '-1') return Number.POSITIVE_INFINITY;
  const [us, periodUs] = [toAmount(quota), toAmount(period)];
  const isKnown = us !== undefined && periodUs !== undefined && periodUs > 0 && Number.isFinite(periodUs);
  return isKnown ? us / periodUs : undefined;
}
