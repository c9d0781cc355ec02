import { closeSync } from 'node:fs';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, withDeadline } from '../../base/index.ts';
import type { Reached } from './descend.ts';
import { descend } from './descend.ts';
import { descendInChild } from './descend-in-child.ts';
import { mountsIn } from './mount-table.ts';
import type { Mounter } from './mounter.ts';
import { makeMountPoint } from './mounter.ts';
import type { Place } from './place.ts';
import { subPathsFolder } from './place.ts';

/** A part of a volume, for one mount of a container. */
export interface SubPath {
  readonly uid: string;
  readonly volume: string;
  readonly container: string;
  /** Of the mount among those of the container. */
  readonly index: number;
  /** Where the volume is. */
  readonly base: string;
  /** Within the volume; what is missing of it is made. */
  readonly path: string;
  /** Whether the volume is on file systems of others. */
  readonly isForeign: boolean;
}

export interface SubPathTools {
  readonly place: Place;
  readonly mounter: Mounter;
  readonly clock: Clock;
  readonly log: Logger;
}

const timeoutMs = 20_000;

/**
 * Mounts a part of a volume at a place that containers cannot change, and returns that place. The runtime mounts it from there:
 * were it given the path in the volume, a container could exchange a folder for a link between the check and the mount.
 */
export async function bindSubPath(subPath: SubPath, tools: SubPathTools): Promise<string> {
  const { uid, volume, container, index } = subPath;
  const { place, mounter, clock, log } = tools;
  try {
    const names = [subPathsFolder, volume, container] as const;
    const target = await place.pathOf(uid, ...names, String(index));
    await mounter.unmountAllIn(target); // that of an earlier start of the container
    await using parent = await place.make(uid, ...names);
    await using reached = await reach(subPath, clock);
    await makeMountPoint(parent, String(index), reached.isFolder);
    await mounter.bind(`/proc/${reached.pid}/fd/${reached.descriptor}`, target);
    return target;
  } catch (error) {
    const message = `failed to prepare subPath for volumeMount ${JSON.stringify(volume)} of container ${JSON.stringify(container)}`;
    log.warn(`pod ${uid}: ${message}: ${describeError(error)}`);
    throw new Error(message); // without its cause: the status of a pod tells its owner nothing of the node's files
  }
}

async function reach({ base, path, isForeign }: SubPath, clock: Clock): Promise<Reached & AsyncDisposable> {
  const hasMounts = mountsIn(base).some((entry) => entry.path !== base);
  if (!isForeign && !hasMounts) {
    const { descriptor, isFolder } = descend(base, path);
    const close = async () => closeSync(descriptor);
    return { pid: process.pid, descriptor, isFolder, [Symbol.asyncDispose]: close };
  }
  const { signal } = new AbortController();
  return await withDeadline({ clock, timeoutMs, signal }, 'the file system of the volume', (cancel) =>
    descendInChild(base, path, cancel),
  );
}
