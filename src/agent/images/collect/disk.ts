import type { StatsFs } from 'node:fs';
import { statfs as statfsOfNode } from 'node:fs/promises';
import type { Clock } from '../../../base/index.ts';
import { SingleFlight, withDeadline } from '../../../base/index.ts';
import type { CollectionSettings } from './types.ts';

export interface DiskUse {
  readonly capacityBytes: number;
  /** For ordinary users. */
  readonly availableBytes: number;
}

export type MeasureDisk = (folder: string, signal: AbortSignal) => Promise<DiskUse>;

const timeoutMs = 5000;

/** Measures file systems. One that hangs is asked once, and costs one thread, however often it is wanted. */
export function createMeasureDisk(
  clock: Clock,
  statfs: (path: string) => Promise<Pick<StatsFs, 'bsize' | 'blocks' | 'bavail'>> = statfsOfNode,
): MeasureDisk {
  const running = new SingleFlight<DiskUse>();
  const ask = async (folder: string): Promise<DiskUse> => {
    const { bsize, blocks, bavail } = await statfs(folder);
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
  };
  return (folder, signal) =>
    withDeadline({ clock, timeoutMs, signal }, `the file system of ${folder}`, () =>
      running.run(folder, () => ask(folder)),
    );
}

/** How many bytes are to be freed, so that the disk is down to the low threshold; 0: it is below the high one. */
export function bytesToFree(disk: DiskUse, { highPercent, lowPercent }: CollectionSettings): number {
  const { capacityBytes, availableBytes } = disk;
  const usedPercent = 100 - Math.floor((availableBytes * 100) / capacityBytes);
  if (highPercent >= 100 || usedPercent < highPercent) return 0;
  return Math.max(0, Math.floor((capacityBytes * (100 - lowPercent)) / 100) - availableBytes);
}
