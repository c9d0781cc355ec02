/**
 * Room on the disks for a checkpoint, looked at before anything is paused. In the course of a checkpoint the runtime
 * holds up to three copies of what it dumps (criu's images, the same packed, the same unpacked for the archive), so a
 * checkpoint counts three times the container's memory on each file system that it needs, and so do the others that
 * are under way until they have ended.
 */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Target } from '../errors.ts';
import { failed } from '../errors.ts';
import type { DiskReserve } from '../settings.ts';

export const copies = 3;

/** A folder that a checkpoint needs room in. */
export interface Place {
  /** What people are told. */
  readonly name: string;
  readonly path: string;
}

export interface RoomOrder {
  readonly target: Target;
  /** Of the container. */
  readonly memoryBytes: number;
  readonly places: readonly Place[];
  readonly reserve: DiskReserve;
}

export interface DiskRoom {
  /**
   * Keeps the room until disposal. Rejects with a CheckpointError `noRoom` that tells what is needed and what is free.
   * A place that does not exist (yet) counts as the nearest folder above it that does.
   */
  take(order: RoomOrder): Promise<Disposable>;
}

interface FileSystem extends Place {
  readonly device: number;
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export function createDiskRoom(measure: (place: Place) => Promise<FileSystem> = look): DiskRoom {
  const promised = new Map<number, number>();

  function refuseUnlessFits(order: RoomOrder, disk: FileSystem): void {
    const needBytes = order.memoryBytes * copies;
    const keepBytes = reservedBytes(order.reserve, disk.sizeBytes);
    const othersBytes = promised.get(disk.device) ?? 0;
    if (needBytes + othersBytes + keepBytes <= disk.freeBytes) return;
    const others = othersBytes === 0 ? '' : `, ${shown(othersBytes)} of it may go to checkpoints under way`;
    const why =
      `not enough room where ${disk.name} is: up to ${shown(needBytes)} are needed, ${copies} times the memory of ` +
      `the container, and ${shown(keepBytes)} must stay free, but ${shown(disk.freeBytes)} are free${others}`;
    throw failed('noRoom', order.target, why);
  }

  return {
    async take(order) {
      const measured = await Promise.all(order.places.map(measure));
      const disks = [...new Map(measured.toReversed().map((disk) => [disk.device, disk])).values()];
      for (const disk of disks) if (disk.sizeBytes > 0) refuseUnlessFits(order, disk); // procfs has no size
      const bytes = order.memoryBytes * copies;
      const add = (more: number): void => {
        for (const { device } of disks) promised.set(device, (promised.get(device) ?? 0) + more);
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

function reservedBytes(reserve: DiskReserve, sizeBytes: number): number {
  return 'bytes' in reserve ? reserve.bytes : Math.ceil(reserve.share * sizeBytes);
}

async function look({ name, path }: Place): Promise<FileSystem> {
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
    return { ...(await look({ name, path: above })), name };
  }
}

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 GiB`. */
function shown(bytes: number): string {
  let [value, unit] = [bytes, 'bytes'];
  for (const next of units) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, next];
  }
  return `${unit === 'bytes' || value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
