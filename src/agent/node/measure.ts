import type { StatsFs } from 'node:fs';
import { statfs as statfsOfNode } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { withDeadline } from './deadline.ts';
import { readKernelFile, readKernelFolder, readKernelNumber } from './kernel-file.ts';

/** What the node has and what of it is free; a part is undefined where the system does not tell. */
export interface Measurements {
  readonly cpus: number;
  readonly memory: { readonly capacityBytes: number; readonly availableBytes: number } | undefined;
  /** The file system of the agent's root folder; the last known where it does not answer. */
  readonly disk: DiskSpace | undefined;
  /** Processes and threads. */
  readonly pids: { readonly limit: number; readonly used: number } | undefined;
  readonly hugePages: readonly { readonly pageBytes: number; readonly totalBytes: number }[];
}

export interface DiskSpace {
  readonly capacityBytes: number;
  /** For ordinary users. */
  readonly availableBytes: number;
  /** Zero where the file system has no fixed number of inodes. */
  readonly inodes: number;
  readonly inodesFree: number;
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
}

export type StatFs = Pick<StatsFs, 'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree'>;

/** Answers what is free now, within a bounded time; never rejects. */
export type Measure = (signal: AbortSignal) => Promise<Measurements>;

export function createMeasure(options: MeasureOptions): Measure {
  const { procDir = '/proc', sysDir = '/sys' } = options;
  const disk = createDiskProbe(options);
  return async (signal) => ({
    cpus: countCpus(sysDir),
    memory: readMemory(procDir),
    disk: await disk(signal),
    pids: readPids(procDir),
    hugePages: readHugePages(sysDir),
  });
}

/** Those online; the file is a list of ranges, `0-3,6` (sysfs: devices/system/cpu). */
function countCpus(sysDir: string): number {
  const text = readKernelFile(`${sysDir}/devices/system/cpu/online`)?.trim() ?? '';
  if (!/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/.test(text)) return Math.max(1, cpus().length);
  return text.split(',').reduce((sum, range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return sum + last - first + 1;
  }, 0);
}

function readMemory(procDir: string): Measurements['memory'] {
  const text = readKernelFile(`${procDir}/meminfo`) ?? '';
  const bytesOf = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
  const capacityBytes = bytesOf('MemTotal');
  const availableBytes = bytesOf('MemAvailable') ?? bytesOf('MemFree');
  return capacityBytes === undefined || availableBytes === undefined
    ? undefined
    : { capacityBytes, availableBytes };
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

const statfsTimeoutMs = 2000;

/** Asks the file system, one question at a time; while it does not answer, the last known answer stands. */
function createDiskProbe(options: MeasureOptions): (signal: AbortSignal) => Promise<DiskSpace | undefined> {
  const { rootDir, clock, log, statfs = statfsOfNode } = options;
  let known: DiskSpace | undefined;
  let asking: Promise<void> | undefined;
  let complained = false;

  function ask(): Promise<void> {
    asking ??= statfs(rootDir)
      .then((answer) => {
        known = toDiskSpace(answer);
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  return async (signal) => {
    try {
      await withDeadline({ clock, timeoutMs: statfsTimeoutMs, signal }, `the file system of ${rootDir}`, ask);
      complained = false;
    } catch (error) {
      if (!complained && !signal.aborted) {
        log.warn(`cannot measure the disk, its last known state stands: ${describeError(error)}`);
        complained = true;
      }
    }
    return known;
  };
}

function toDiskSpace(answer: StatFs): DiskSpace {
  return {
    capacityBytes: answer.blocks * answer.bsize,
    availableBytes: answer.bavail * answer.bsize,
    inodes: answer.files,
    inodesFree: answer.ffree,
  };
}
