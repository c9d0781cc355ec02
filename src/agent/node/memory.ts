import { findKernelCount, readKernelFile, readKernelNumber } from '../../base/index.ts';

export interface Memory {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

/*
 * As the reference measures it: available is the capacity without the working set, and the working set is the usage
 * without the file pages that can be dropped at once (inactive_file).
 *
 *   cgroup v1         usage and inactive_file of the root of the hierarchy
 *   cgroup v2         the root has no usage of its own: usage by /proc/meminfo; inactive_file of the root
 *   inside a container, where the visible root has a limit: that limit, and its own usage; where it has none,
 *                     the kernel's value for the whole machine (MemAvailable)
 */

/** Reads the memory of the node; undefined where the kernel does not provide it. */
export function readMemory(procDir: string, sysDir: string): Memory | undefined {
  const meminfo = readMeminfo(procDir);
  const total = meminfo('MemTotal');
  const free = meminfo('MemFree');
  if (total === undefined || free === undefined) return undefined;
  const group = readGroup(sysDir);
  const limit = group.limit !== undefined && group.limit < total ? group.limit : total;
  const isPart = group.usage !== undefined && group.limit !== undefined; // of a container, or a whole with cgroup v1
  const used = group.usage ?? total - free;
  if (group.inactiveFile === undefined || (group.usage !== undefined && !isPart)) {
    const available = meminfo('MemAvailable') ?? free;
    return { capacityBytes: limit, availableBytes: Math.min(limit, available) };
  }
  const workingSet = Math.max(0, used - group.inactiveFile);
  return { capacityBytes: limit, availableBytes: Math.max(0, limit - workingSet) };
}

/** All swap space, in bytes; 0 where there is none. */
export function readSwap(procDir: string): number {
  return readMeminfo(procDir)('SwapTotal') ?? 0;
}

/** Returns what `/proc/meminfo` says of a name, in bytes. */
export function readMeminfo(procDir: string): (name: string) => number | undefined {
  const text = readKernelFile(`${procDir}/meminfo`) ?? '';
  return (name) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
}

interface Group {
  limit: number | undefined;
  usage: number | undefined;
  inactiveFile: number | undefined;
}

/** Reads the root of the memory cgroups that is visible from here. */
function readGroup(sysDir: string): Group {
  const v1 = `${sysDir}/fs/cgroup/memory`;
  const usageV1 = readKernelNumber(`${v1}/memory.usage_in_bytes`);
  if (usageV1 !== undefined) {
    const inactiveFile = findKernelCount(readKernelFile(`${v1}/memory.stat`), 'total_inactive_file');
    return { limit: readKernelNumber(`${v1}/memory.limit_in_bytes`), usage: usageV1, inactiveFile };
  }
  const v2 = `${sysDir}/fs/cgroup`;
  return {
    limit: readKernelNumber(`${v2}/memory.max`),
    usage: readKernelNumber(`${v2}/memory.current`),
    inactiveFile: findKernelCount(readKernelFile(`${v2}/memory.stat`), 'inactive_file'),
  };
}
