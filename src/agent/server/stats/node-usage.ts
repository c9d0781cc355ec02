import { formatTime } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { findKernelCount, readKernelFile, readKernelNumber } from '../../../base/index.ts';
import type { Measure, Measurements } from '../../node/index.ts';
import { readMeminfo } from '../../node/index.ts';
import type { CpuUsage } from '../../usage/index.ts';
import { CpuRates, minSpanMs, parsePressure } from '../../usage/index.ts';
import { cpuFigures, defined, ioStats, withPsi } from './figures.ts';
import type {
  CpuStats,
  FsStats,
  InterfaceStats,
  IoStats,
  MemoryStats,
  NetworkStats,
  SwapStats,
} from './usage.ts';

export interface NodeUsageOptions {
  /** What the node has and what of it is free, in bounded time. */
  measure: Measure;
  clock: Clock;
  /** Where the kernel's files are; `/proc` and `/sys`. */
  procDir?: string;
  sysDir?: string;
}

/** The usage of the whole machine. */
export interface NodeUsage {
  /** When it was read; wall clock, milliseconds since 1970. */
  readonly atMs?: number | undefined;
  readonly startTime: string | undefined;
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
  /** Undefined where the kernel does not measure it, or nothing is known of it. */
  readonly io?: IoStats | undefined;
  readonly swap?: SwapStats | undefined;
  readonly network: NetworkStats | undefined;
  readonly fs: FsStats;
  /** Undefined where the file system is not known, or is the same as `fs`. */
  readonly imageFs: FsStats | undefined;
  readonly containerFs: FsStats | undefined;
  readonly rlimit: { time: string; maxpid: number; curproc: number } | undefined;
}

/** The rates of the machine: it is the only thing that is sampled here. */
const machine = '';

/**
 * Measures the machine at each call. The CPU rate is one of `CpuRates`; after a long time, and at first, two samples are taken.
 */
export function createNodeUsage(options: NodeUsageOptions): (signal: AbortSignal) => Promise<NodeUsage> {
  const { measure, clock, procDir = '/proc', sysDir = '/sys' } = options;
  const rates = new CpuRates();

  function sample(): Pick<CpuUsage, 'usageCoreNanoSeconds' | 'usageNanoCores' | 'rateSpanMs'> {
    const usageCoreNanoSeconds = readCpu(procDir, sysDir);
    const usageNanoCores =
      usageCoreNanoSeconds === undefined
        ? undefined
        : rates.sample(machine, usageCoreNanoSeconds, clock.monotonicMs());
    return { usageCoreNanoSeconds, usageNanoCores, rateSpanMs: rates.spanMs(machine) };
  }

  async function cpu(signal: AbortSignal): Promise<CpuStats> {
    if (!rates.hasBase(machine, clock.monotonicMs())) {
      sample();
      await clock.sleep(minSpanMs, signal);
    }
    return { time: formatTime(clock.now()), ...cpuFigures(sample()) };
  }

  const pressureOf = (resource: string) =>
    withPsi(parsePressure(readKernelFile(`${procDir}/pressure/${resource}`)));

  return async (signal) => {
    const [measured, used] = await Promise.all([measure(signal), cpu(signal)]);
    const atMs = clock.now();
    const time = formatTime(atMs);
    const { pids } = measured;
    return {
      atMs,
      startTime: bootTime(procDir),
      cpu: { ...used, ...pressureOf('cpu') },
      memory: { time, ...readMemoryUse(measured, procDir, sysDir), ...pressureOf('memory') },
      io: ioStats(time, pressureOf('io')),
      swap: readSwapUse(procDir, time),
      network: readNetwork(procDir, time),
      fs: fsStats(measured.disk, time),
      imageFs: measured.imageDisk && fsStats(measured.imageDisk, time),
      containerFs: measured.containerDisk && fsStats(measured.containerDisk, time),
      rlimit: pids && { time, maxpid: pids.limit, curproc: pids.used },
    };
  };
}

const nanosPerTick = 10_000_000;

/** The CPU time of the machine: that of the root cgroup, else the kernel's count in ticks. */
function readCpu(procDir: string, sysDir: string): number | undefined {
  const micros = findKernelCount(readKernelFile(`${sysDir}/fs/cgroup/cpu.stat`), 'usage_usec');
  if (micros !== undefined) return micros * 1000;
  const nanos = readKernelNumber(`${sysDir}/fs/cgroup/cpuacct/cpuacct.usage`);
  if (nanos !== undefined) return nanos;
  const ticks = /^cpu +(.*)$/m
    .exec(readKernelFile(`${procDir}/stat`) ?? '')?.[1]
    ?.split(' ')
    .map(Number);
  if (ticks === undefined) return undefined;
  // proc_stat(5): user nice system idle iowait irq softirq steal; guest time is included in user
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks;
  return (user + nice + system + irq + softirq) * nanosPerTick;
}

function readMemoryUse({ memory }: Measurements, procDir: string, sysDir: string): Omit<MemoryStats, 'time'> {
  const stat =
    readKernelFile(`${sysDir}/fs/cgroup/memory.stat`) ??
    readKernelFile(`${sysDir}/fs/cgroup/memory/memory.stat`);
  const group = (key: string) => findKernelCount(stat, key);
  const meminfo = readMeminfo(procDir);
  const [total, free] = [meminfo('MemTotal'), meminfo('MemFree')];
  const usage =
    readKernelNumber(`${sysDir}/fs/cgroup/memory.current`) ??
    readKernelNumber(`${sysDir}/fs/cgroup/memory/memory.usage_in_bytes`) ??
    (total === undefined || free === undefined ? undefined : total - free);
  const vmstat = readKernelFile(`${procDir}/vmstat`);
  const all = (key: string) => findKernelCount(vmstat, key);
  return defined({
    availableBytes: memory?.availableBytes,
    usageBytes: usage,
    workingSetBytes: memory && Math.max(0, memory.capacityBytes - memory.availableBytes),
    rssBytes: group('anon') ?? group('total_rss') ?? meminfo('AnonPages'),
    pageFaults: group('pgfault') ?? group('total_pgfault') ?? all('pgfault'),
    majorPageFaults: group('pgmajfault') ?? group('total_pgmajfault') ?? all('pgmajfault'),
  });
}

function readSwapUse(procDir: string, time: string): SwapStats | undefined {
  const meminfo = readMeminfo(procDir);
  const [total, free] = [meminfo('SwapTotal'), meminfo('SwapFree')];
  if (total === undefined || free === undefined) return undefined;
  return { time, swapAvailableBytes: free, swapUsageBytes: Math.max(0, total - free) };
}

/** Host ends of the interfaces of pods, and the loopback: their traffic is counted elsewhere. */
const inner = /^(?:lo$|veth|docker|nerdctl|cali|lxc)/;

/** proc_net(5): the network of the processes that see this `/proc`, or of the one whose folder in it `procDir` is. */
export function readNetwork(procDir: string, time: string): NetworkStats | undefined {
  const lines = (readKernelFile(`${procDir}/net/dev`) ?? '').split('\n').slice(2);
  const interfaces = lines.flatMap((line): InterfaceStats[] => {
    const [name = '', rest = ''] = line.split(':').map((part) => part.trim());
    const [rxBytes, , rxErrors, , , , , , txBytes, , txErrors] = rest.split(/\s+/).map(Number);
    if (name === '' || inner.test(name) || txErrors === undefined) return [];
    return [{ name, ...defined({ rxBytes, rxErrors, txBytes, txErrors }) }];
  });
  if (interfaces.length === 0) return undefined;
  const route = defaultInterface(procDir);
  const main = interfaces.find(({ name }) => name === route) ?? { name: '' };
  return { time, ...main, interfaces };
}

/** The interface of the default route. */
function defaultInterface(procDir: string): string | undefined {
  const lines = (readKernelFile(`${procDir}/net/route`) ?? '').split('\n').slice(1);
  return lines
    .map((line) => line.split('\t'))
    .find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0];
}

function fsStats(disk: Measurements['disk'], time: string): FsStats {
  if (disk === undefined) return { time };
  const { capacityBytes, availableBytes, inodes, inodesFree } = disk;
  return {
    time,
    availableBytes,
    capacityBytes,
    usedBytes: Math.max(0, capacityBytes - availableBytes),
    ...(inodes === 0 ? {} : { inodes, inodesFree, inodesUsed: inodes - inodesFree }),
  };
}

/** When the machine was started. */
function bootTime(procDir: string): string | undefined {
  const seconds = findKernelCount(readKernelFile(`${procDir}/stat`), 'btime');
  return seconds === undefined ? undefined : formatTime(seconds * 1000);
}
