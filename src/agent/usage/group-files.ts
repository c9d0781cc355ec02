import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findKernelCount, parseKernelCount, readKernelFile } from '../../base/index.ts';
import type { CpuUsage, GroupDetails, LimitsInForce, MemoryUsage } from './figures.ts';
import { parseIoStat, parseLimit, parseOomKills, parsePressure, parseServiceBytes } from './parse.ts';

/** Where control groups are mounted. */
export interface Hierarchies {
  readonly version: 1 | 2;
  /** Of each hierarchy that has controllers; with version 2 the only one. */
  readonly roots: readonly string[];
}

/** A group: the names of folders from the root on; none: the whole machine. */
export type GroupPath = readonly string[];

/**
 * Reads the files of groups. A group that is missing has only figures that are undefined. Version 1 has a tree for each
 * controller; a controller that is not mounted leaves its figures out.
 */
export class GroupFiles {
  readonly version: 1 | 2;
  readonly #roots: Readonly<Record<Controller, string | undefined>>;

  constructor({ version, roots }: Hierarchies) {
    this.version = version;
    const rootOf = (controller: Controller) =>
      version === 2 ? roots[0] : roots.find((root) => basename(root).split(',').includes(controller));
    this.#roots = {
      cpu: rootOf('cpu'),
      cpuacct: rootOf('cpuacct'),
      memory: rootOf('memory'),
      pids: rootOf('pids'),
      blkio: rootOf('blkio'),
    };
  }

  /** The folder of the group in the hierarchy of a controller. */
  folder(controller: Controller, path: GroupPath): string | undefined {
    const root = this.#roots[controller];
    return root === undefined ? undefined : join(root, ...path);
  }

  /** Whether the group is there. With version 1 one hierarchy stands for all. */
  has(path: GroupPath): boolean {
    const folder = this.#anyFolder(path);
    return folder !== undefined && existsSync(folder);
  }

  /** The names of the groups in a group; none where it is missing. */
  #below(path: GroupPath): string[] {
    try {
      const entries = readdirSync(this.#anyFolder(path) ?? '', { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch {
      return [];
    }
  }

  #anyFolder(path: GroupPath): string | undefined {
    return this.folder('memory', path) ?? this.folder('cpuacct', path) ?? this.folder('pids', path);
  }

  /** Nanoseconds of CPU time. */
  cpuTime(path: GroupPath): number | undefined {
    if (this.version === 1) return parseKernelCount(this.#read('cpuacct', path, 'cpuacct.usage'));
    return timesThousand(findKernelCount(this.#read('cpu', path, 'cpu.stat'), 'usage_usec'));
  }

  /** All but the rate. */
  cpu(path: GroupPath): Omit<CpuUsage, 'usageNanoCores' | 'rateSpanMs'> {
    const stat = this.#read('cpu', path, 'cpu.stat');
    return {
      usageCoreNanoSeconds:
        this.version === 1 ? this.cpuTime(path) : timesThousand(findKernelCount(stat, 'usage_usec')),
      periods: findKernelCount(stat, 'nr_periods'),
      throttledPeriods: findKernelCount(stat, 'nr_throttled'),
      throttledNanoSeconds:
        this.version === 1
          ? findKernelCount(stat, 'throttled_time')
          : timesThousand(findKernelCount(stat, 'throttled_usec')),
    };
  }

  memory(path: GroupPath): MemoryUsage {
    return this.version === 1 ? this.#separateMemory(path) : this.#unifiedMemory(path);
  }

  #unifiedMemory(path: GroupPath): MemoryUsage {
    const stat = this.#read('memory', path, 'memory.stat');
    return withWorkingSet({
      usageBytes: parseKernelCount(this.#read('memory', path, 'memory.current')),
      inactiveFileBytes: findKernelCount(stat, 'inactive_file'),
      limitBytes: amountOf(this.#read('memory', path, 'memory.max')),
      rssBytes: findKernelCount(stat, 'anon'),
      pageFaults: findKernelCount(stat, 'pgfault'),
      majorPageFaults: findKernelCount(stat, 'pgmajfault'),
      swapBytes: parseKernelCount(this.#read('memory', path, 'memory.swap.current')),
      swapLimitBytes: amountOf(this.#read('memory', path, 'memory.swap.max')),
    });
  }

  /** The figures named `total_` have those of the groups below in them. */
  #separateMemory(path: GroupPath): MemoryUsage {
    const stat = this.#read('memory', path, 'memory.stat');
    const limitBytes = amountOf(this.#read('memory', path, 'memory.limit_in_bytes'));
    const bothLimit = amountOf(this.#read('memory', path, 'memory.memsw.limit_in_bytes'));
    return withWorkingSet({
      usageBytes: parseKernelCount(this.#read('memory', path, 'memory.usage_in_bytes')),
      inactiveFileBytes: findKernelCount(stat, 'total_inactive_file'),
      limitBytes,
      rssBytes: findKernelCount(stat, 'total_rss'),
      pageFaults: findKernelCount(stat, 'total_pgfault'),
      majorPageFaults: findKernelCount(stat, 'total_pgmajfault'),
      swapBytes: findKernelCount(stat, 'total_swap'),
      swapLimitBytes:
        bothLimit === undefined || limitBytes === undefined ? undefined : Math.max(0, bothLimit - limitBytes),
    });
  }

  limits(path: GroupPath): LimitsInForce {
    const read = (controller: Controller, file: string) => this.#read(controller, path, file);
    if (this.version === 2) {
      const [quota, period] = read('cpu', 'cpu.max')?.trim().split(' ') ?? [];
      return { cpus: toCpus(quota, period), memoryBytes: parseLimit(read('memory', 'memory.max')) };
    }
    return {
      cpuShares: parseKernelCount(read('cpu', 'cpu.shares')),
      cpus: toCpus(read('cpu', 'cpu.cfs_quota_us'), read('cpu', 'cpu.cfs_period_us')),
      memoryBytes: parseLimit(read('memory', 'memory.limit_in_bytes')),
    };
  }

  /**
   * The groups of containers in that of their pod, by the containers' ids, however the runtime calls them: `ID`,
   * `cri-containerd-ID.scope`, `crio-ID.scope`.
   */
  containersIn(pod: GroupPath): Map<string, GroupPath> {
    return new Map(this.#below(pod).map((name) => [containerIdOf(name), [...pod, name]]));
  }

  details(path: GroupPath): GroupDetails {
    const isUnified = this.version === 2;
    const pressureOf = (resource: 'cpu' | 'memory' | 'io') =>
      isUnified ? parsePressure(this.#read('cpu', path, `${resource}.pressure`)) : undefined;
    return {
      tasks: parseKernelCount(this.#read('pids', path, 'pids.current')),
      tasksLimit: amountOf(this.#read('pids', path, 'pids.max')),
      pressure: { cpu: pressureOf('cpu'), memory: pressureOf('memory'), io: pressureOf('io') },
      io: isUnified
        ? parseIoStat(this.#read('blkio', path, 'io.stat'))
        : parseServiceBytes(this.#read('blkio', path, 'blkio.throttle.io_service_bytes_recursive')),
    };
  }

  /** How often the kernel has killed a process of the group, or of one below it with version 2, for want of memory. */
  oomKills(path: GroupPath): number | undefined {
    const file = this.version === 2 ? 'memory.events' : 'memory.oom_control';
    return parseOomKills(this.#read('memory', path, file));
  }

  /** Those directly in the group that can be seen from here, in the kernel's order. */
  processes(path: GroupPath): number[] {
    const text = this.#read('memory', path, 'cgroup.procs') ?? this.#read('pids', path, 'cgroup.procs') ?? '';
    return text
      .split('\n')
      .map(Number)
      .filter((pid) => Number.isSafeInteger(pid) && pid > 0);
  }

  #read(controller: Controller, path: GroupPath, file: string): string | undefined {
    const folder = this.folder(controller, path);
    return folder === undefined ? undefined : readKernelFile(`${folder}/${file}`);
  }
}

type Controller = 'cpu' | 'cpuacct' | 'memory' | 'pids' | 'blkio';

/** `crio-conmon-ID.scope` holds the process that watches over the container, and is not the container's. */
function containerIdOf(name: string): string {
  return name.includes('-conmon-')
    ? ''
    : name.replace(/\.scope$/, '').replace(/^(?:cri-containerd|crio)-/, '');
}

/** Undefined where there is no limit, too. */
function amountOf(text: string | undefined): number | undefined {
  const limit = parseLimit(text);
  return limit === Number.POSITIVE_INFINITY ? undefined : limit;
}

/** The quota of version 1 is -1 where there is none. */
function toCpus(quota: string | undefined, period: string | undefined): number | undefined {
  const us = quota?.trim() === '-1' ? Number.POSITIVE_INFINITY : parseLimit(quota);
  const periodUs = parseKernelCount(period);
  return us === undefined || periodUs === undefined || periodUs === 0 ? undefined : us / periodUs;
}

function timesThousand(count: number | undefined): number | undefined {
  return count === undefined ? undefined : count * 1000;
}

type RawMemory = Omit<MemoryUsage, 'workingSetBytes' | 'availableBytes'> & {
  readonly inactiveFileBytes: number | undefined;
};

/** The two files are read one after the other, so the part may seem larger than the whole. */
function withWorkingSet({ inactiveFileBytes, ...memory }: RawMemory): MemoryUsage {
  const { usageBytes, limitBytes } = memory;
  const workingSetBytes =
    usageBytes === undefined || inactiveFileBytes === undefined
      ? undefined
      : Math.max(0, usageBytes - inactiveFileBytes);
  const availableBytes =
    limitBytes === undefined || workingSetBytes === undefined
      ? undefined
      : Math.max(0, limitBytes - workingSetBytes);
  return { ...memory, workingSetBytes, availableBytes };
}
