import { cpus } from 'node:os';
import type { Clock, Logger } from '../../base/index.ts';
import { readKernelFile, readKernelFolder, readKernelNumber } from '../../base/index.ts';
import type { DiskSpace, StatFs } from './disk.ts';
import { createDiskProbes } from './disk.ts';
import { readMemory, readSwap } from './memory.ts';

export type { DiskSpace, StatFs } from './disk.ts';

/** The capacity of the node and how much of it is free; undefined members where the system does not provide them. */
export interface Measurements {
  readonly cpus: number;
  readonly memory: { readonly capacityBytes: number; readonly availableBytes: number } | undefined;
  /** Zero where there is none. */
  readonly swapBytes: number;
  /** The file system of the agent's root folder; the last known values while it does not answer. */
  readonly disk: DiskSpace | undefined;
  /** The file systems of images and of writable container layers; undefined until the runtime has reported their paths. */
  readonly imageDisk: DiskSpace | undefined;
  readonly containerDisk: DiskSpace | undefined;
  /** Processes and threads. */
  readonly pids: { readonly limit: number; readonly used: number } | undefined;
  readonly hugePages: readonly { readonly pageBytes: number; readonly totalBytes: number }[];
}

export interface MeasureOptions {
  /** The folder whose file system is measured. */
  rootDir: string;
  clock: Clock;
  log: Logger;
  /** Where the kernel's files are; `/proc` and `/sys`. */
  procDir?: string;
  sysDir?: string;
  /** Default that of node:fs. */
  statfs?: (path: string) => Promise<StatFs>;
  /** Where the runtime keeps images and containers, as far as it has reported that. */
  runtimeDisks?: () => RuntimeDisks;
}

/** Folders on these file systems; undefined where they are not known. */
export interface RuntimeDisks {
  readonly images: string | undefined;
  readonly containers: string | undefined;
}

/** Measures within a bounded time; never rejects. */
export type Measure = (signal: AbortSignal) => Promise<Measurements>;

export function createMeasure(options: MeasureOptions): Measure {
  const { rootDir, procDir = '/proc', sysDir = '/sys', runtimeDisks = unknownDisks } = options;
  const disks = createDiskProbes(options);
  return async (signal) => {
    const { images, containers } = runtimeDisks();
    const [disk, imageDisk, containerDisk] = await disks([rootDir, images, containers], signal);
    return {
      cpus: countCpus(sysDir),
      memory: readMemory(procDir, sysDir),
      swapBytes: readSwap(procDir),
      disk,
      imageDisk,
      containerDisk,
      pids: readPids(procDir),
      hugePages: readHugePages(sysDir),
    };
  };
}

const unknownDisks = (): RuntimeDisks => ({ images: undefined, containers: undefined });

/** Those online; the file is a list of ranges, `0-3,6` (sysfs: devices/system/cpu). */
function countCpus(sysDir: string): number {
  const text = readKernelFile(`${sysDir}/devices/system/cpu/online`)?.trim() ?? '';
  if (!/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/.test(text)) return Math.max(1, cpus().length);
  return text.split(',').reduce((sum, range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return sum + last - first + 1;
  }, 0);
}

/** The limit is the smaller of pid_max and threads-max; the fourth field of loadavg counts what exists. */
function readPids(procDir: string): Measurements['pids'] {
  const limits = ['pid_max', 'threads-max'].flatMap(
    (name) => readKernelNumber(`${procDir}/sys/kernel/${name}`) ?? [],
  );
  const used = /^(?:\S+ ){3}\d+\/(\d+)/.exec(readKernelFile(`${procDir}/loadavg`) ?? '')?.[1];
  if (limits.length === 0 || used === undefined) return undefined;
  return { limit: Math.min(...limits), used: Number(used) };
}

function readHugePages(sysDir: string): Measurements['hugePages'] {
  const folder = `${sysDir}/kernel/mm/hugepages`;
  return readKernelFolder(folder).flatMap((name) => {
    const kibibytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (kibibytes === undefined) return [];
    const pageBytes = Number(kibibytes) * 1024;
    const count = readKernelNumber(`${folder}/${name}/nr_hugepages`) ?? 0;
    return [{ pageBytes, totalBytes: pageBytes * count }];
  });
}
