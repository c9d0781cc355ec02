/**
 * Disk space for a checkpoint, checked before anything is paused. During a checkpoint the runtime holds up to three copies
 * of what it dumps (criu's images, the same packed, the same unpacked for the archive). So a checkpoint reserves three
 * times the container's memory on each file system that it needs, until it has ended; what checkpoints under way have
 * reserved counts as used.
 */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Target } from '../errors.ts';
import { createFailure } from '../errors.ts';
import type { DiskReserve } from '../settings.ts';

const copies = 3;

/** A folder in which a checkpoint needs space. */
interface Place {
  /** For error messages. */
  readonly name: string;
  readonly path: string;
}

export interface SpaceRequest {
  readonly target: Target;
  /** The memory of the container. */
  readonly memoryBytes: number;
  readonly places: readonly Place[];
  readonly reserve: DiskReserve;
}

export interface DiskSpace {
  /**
   * Reserves the space until disposal. Rejects with a CheckpointError `noRoom` that says what is needed and what is free.
   * For a place that does not exist (yet), the nearest parent folder that does is measured.
   */
  reserve(order: SpaceRequest): Promise<Disposable>;
}

interface FileSystem extends Place {
  readonly device: number;
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export function createDiskSpace(
  measure: (place: Place) => Promise<FileSystem> = measureFileSystem,
): DiskSpace {
  const reserved = new Map<number, number>();

  function refuseUnlessFits(order: SpaceRequest, disk: FileSystem): void {
    const needBytes = order.memoryBytes * copies;
    const keepBytes = computeReservedBytes(order.reserve, disk.sizeBytes);
    const othersBytes = reserved.get(disk.device) ?? 0;
    if (needBytes + othersBytes + keepBytes <= disk.freeBytes) return;
    const others =
      othersBytes === 0 ? '' : `, ${formatBytes(othersBytes)} of it may go to checkpoints under way`;
    const why =
      `not enough room where ${disk.name} is: up to ${formatBytes(needBytes)} are needed, ${copies} times the memory of ` +
      `the container, and ${formatBytes(keepBytes)} must stay free, but ${formatBytes(disk.freeBytes)} are free${others}`;
    throw createFailure('noRoom', order.target, why);
  }

  return {
    async reserve(order) {
      const measured = await Promise.all(order.places.map(measure));
      const disks = [...new Map(measured.toReversed().map((disk) => [disk.device, disk])).values()];
      for (const disk of disks) if (disk.sizeBytes > 0) refuseUnlessFits(order, disk); // procfs has size 0
      const bytes = order.memoryBytes * copies;
      const add = (more: number): void => {
        for (const { device } of disks) reserved.set(device, (reserved.get(device) ?? 0) + more);
      };
      add(bytes);
      let over = false;
      return {
        [Symbol.dispose]() {
          if (!over) add(-bytes);
          over = true;
        },
      };
    },
  };
}

function computeReservedBytes(reserve: DiskReserve, sizeBytes: number): number {
  return 'bytes' in reserve ? reserve.bytes : Math.ceil(reserve.share * sizeBytes);
}

async function measureFileSystem({ name, path }: Place): Promise<FileSystem> {
  try {
    const [facts, room] = await Promise.all([stat(path), statfs(path)]);
    return {
      name,
      path,
      device: facts.dev,
      freeBytes: room.bavail * room.bsize,
      sizeBytes: room.blocks * room.bsize,
    };
  } catch (error) {
    const above = dirname(path);
    if (above === path) throw error;
    return { ...(await measureFileSystem({ name, path: above })), name };
  }
}

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 GiB`. */
function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 'bytes'];
  for (const next of units) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, next];
  }
  return `${unit === 'bytes' || value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
