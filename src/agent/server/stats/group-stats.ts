import { formatTime } from '../../../api/index.ts';
import type { CpuUsage, GroupDetails, GroupUsage, MemoryUsage } from '../../usage/index.ts';
import { cpuFigures, defined, ioStats, withPsi } from './figures.ts';
import type { CpuStats, IoStats, MemoryStats, SwapStats } from './usage.ts';

/** What a group uses, in the shape of the summary. */
export interface GroupStats {
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
  /** Undefined where the kernel does not measure them. */
  readonly io: IoStats | undefined;
  readonly swap: SwapStats | undefined;
  readonly tasks: number | undefined;
}

/** Without `details` there is nothing but CPU, memory and swap. */
export function groupStats({ atMs, cpu, memory }: GroupUsage, details?: GroupDetails): GroupStats {
  const time = formatTime(atMs);
  return {
    cpu: { time, ...cpuFigures(cpu), ...withPsi(details?.pressure.cpu), ...throttling(cpu) },
    memory: { time, ...memoryFigures(memory), ...withPsi(details?.pressure.memory) },
    io: ioStats(time, withPsi(details?.pressure.io)),
    swap: swapStats(time, memory),
    tasks: details?.tasks,
  };
}

/** Empty without a quota. */
function throttling({
  periods,
  throttledPeriods,
  throttledNanoSeconds,
}: CpuUsage): Pick<CpuStats, 'throttling'> {
  if (periods === undefined || periods === 0 || throttledPeriods === undefined) return {};
  return { throttling: { periods, throttledPeriods, ...defined({ throttledNanoSeconds }) } };
}

function memoryFigures(memory: MemoryUsage) {
  const { availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = memory;
  return defined({ availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults });
}

function swapStats(time: string, { swapBytes, swapLimitBytes }: MemoryUsage): SwapStats | undefined {
  if (swapBytes === undefined) return undefined;
  const available = swapLimitBytes === undefined ? undefined : Math.max(0, swapLimitBytes - swapBytes);
  return { time, ...defined({ swapAvailableBytes: available }), swapUsageBytes: swapBytes };
}
