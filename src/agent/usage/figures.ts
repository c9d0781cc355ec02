/*
 * What groups of processes use, as the kernel counts it. Sizes are bytes. A figure that the kernel does not report, or that
 * cannot be read, is undefined: 0 means that nothing is used. Counts beyond 2^53 are exact to the next multiple of a small
 * power of two, as a number holds them.
 */

export interface CpuUsage {
  /** Nanoseconds of CPU time since the group was made. */
  readonly usageCoreNanoSeconds: number | undefined;
  /** Nanoseconds of CPU time per second, over a span of the last seconds; undefined until it is known. */
  readonly usageNanoCores: number | undefined;
  /** The span of that rate. */
  readonly rateSpanMs: number | undefined;
  /** Periods in which the group had a quota and ran, and those in which it had to wait. */
  readonly periods: number | undefined;
  readonly throttledPeriods: number | undefined;
  /** Nanoseconds that the group waited for its next period, summed over CPUs. */
  readonly throttledNanoSeconds: number | undefined;
}

export interface MemoryUsage {
  /** With the page cache. */
  readonly usageBytes: number | undefined;
  /** Without pages of files that were not used lately; what eviction and the OOM killer look at. */
  readonly workingSetBytes: number | undefined;
  /** Of processes: anonymous memory. */
  readonly rssBytes: number | undefined;
  /** The group's own limit; undefined: none. */
  readonly limitBytes: number | undefined;
  /** What is left below the limit, the working set taken off; undefined without a limit. */
  readonly availableBytes: number | undefined;
  readonly pageFaults: number | undefined;
  readonly majorPageFaults: number | undefined;
  /** Undefined where the kernel does not count swap by group. */
  readonly swapBytes: number | undefined;
  /** Undefined: no limit. */
  readonly swapLimitBytes: number | undefined;
}

/** The limits of a group. Undefined: not known; infinity: not limited. */
export interface LimitsInForce {
  /** Version 1 alone. */
  readonly cpuShares?: number | undefined;
  /** Of a processor: quota by period. */
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
}

/** Time in which tasks waited for a resource (PSI): percentages over the last 10, 60 and 300 s. */
export interface PressureFigures {
  /** Microseconds since the group was made. */
  readonly totalMicros: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface Pressure {
  /** At least one task waited. */
  readonly some: PressureFigures;
  /** All tasks waited; the kernel does not report it for the CPU of the whole machine before 5.13. */
  readonly full: PressureFigures | undefined;
}

/** Since the group was made, over all devices. */
export interface IoUsage {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** One look at a group. */
export interface GroupUsage {
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
}

/** What costs more to read, and is asked for less often. */
export interface GroupDetails {
  /** Tasks: threads count too. */
  readonly tasks: number | undefined;
  readonly tasksLimit: number | undefined;
  /** Undefined with version 1, and where the kernel does not measure it. */
  readonly pressure: Readonly<Record<'cpu' | 'memory' | 'io', Pressure | undefined>>;
  readonly io: IoUsage | undefined;
}
