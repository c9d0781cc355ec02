import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import { isMountedAt } from '../mounter.ts';
import type { Place } from '../place.ts';
import { pluginsFolder, volumesFolder } from '../place.ts';
import type { VolumeData } from './volume-data.ts';
import { dataFile, readVolumeData } from './volume-data.ts';

/*
 * Where the volumes of drivers are, as the reference lays them out:
 *
 *   pods/UID/volumes/kubernetes.io~csi/NAME/{vol_data.json,mount}         of a pod
 *   plugins/kubernetes.io/csi/DRIVER/SHA256(HANDLE)/{vol_data.json,globalmount}   staged, for all pods of the node
 *   plugins/kubernetes.io/csi/volumeDevices/publish/NAME/UID              a block device of a pod
 *   plugins/kubernetes.io/csi/volumeDevices/staging/NAME                  one that is staged
 *   plugins/kubernetes.io/csi/volumeDevices/NAME/data/vol_data.json
 *   pods/UID/volumeDevices/kubernetes.io~csi/NAME                         a link to the device
 *
 * and, of a block device of a pod, pods/UID/plugins/kubernetes.io~csi/NAME/vol_data.json.
 */

export const csiPlugin = 'kubernetes.io~csi';
const shared = ['kubernetes.io', 'csi'] as const;
const blocks = 'volumeDevices';

/** The file that says what is there, and where the driver puts it. */
export interface CsiPaths {
  /** Folder names below the pod or the folder of plugins, for `data`. */
  readonly folder: readonly string[];
  readonly data: string;
  readonly target: string;
}

/** Whether it is published there, as far as the disk and the table of mounts say. */
export async function isPublishedAt(at: CsiPaths): Promise<boolean> {
  const data = await readVolumeData(at.data);
  return data?.progress === 'done' && isMountedAt(at.target);
}

/** A volume of a pod by its folder. */
export interface PodVolumeName {
  readonly uid: string;
  readonly name: string;
  readonly isBlock: boolean;
}

export async function podPaths(place: Place, { uid, name, isBlock }: PodVolumeName): Promise<CsiPaths> {
  const folder = [isBlock ? pluginsFolder : volumesFolder, csiPlugin, name];
  const path = await place.pathOf(uid, ...folder);
  const target = isBlock
    ? await place.sharedPath(...shared, blocks, 'publish', name, uid)
    : join(path, 'mount');
  return { folder, target, data: join(path, dataFile) };
}

type Staged = Pick<VolumeData, 'driver' | 'handle' | 'name' | 'isBlock'>;

export async function stagePaths(place: Place, { driver, handle, name, isBlock }: Staged): Promise<CsiPaths> {
  const folder = isBlock ? [...shared, blocks, name, 'data'] : [...shared, driver, sha256(handle)];
  const path = await place.sharedPath(...folder);
  const target = isBlock
    ? await place.sharedPath(...shared, blocks, 'staging', name)
    : join(path, 'globalmount');
  return { folder, target, data: join(path, dataFile) };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The name of the object by which a volume is attached to a node. */
export function attachmentName(handle: string, driver: string, node: string): string {
  return `csi-${sha256(`${handle}${driver}${node}`)}`;
}

/** The handle of a volume that is made for a pod. */
export function ephemeralHandle(uid: string, name: string): string {
  return `csi-${sha256(`${uid}${name}`)}`;
}

/** How a Node names a volume that is attached to it. */
export function uniqueName({ driver, handle }: Pick<VolumeData, 'driver' | 'handle'>): string {
  return `kubernetes.io/csi/${driver}^${handle}`;
}

/** A volume of a pod, as the disk has it. */
export interface VolumeOfPod {
  readonly uid: string;
  readonly data: VolumeData;
}

const maxPods = 100_000;

/** Those of all pods. Rejects for a file that cannot be read: then it is not known who uses a volume. */
export async function listPodVolumes(place: Place): Promise<VolumeOfPod[]> {
  const found: VolumeOfPod[] = [];
  for (const uid of await place.listPods(maxPods))
    for (const volume of await listVolumesOf(place, uid)) {
      const data = await readVolumeData((await podPaths(place, volume)).data);
      if (data !== undefined) found.push({ uid, data });
    }
  return found;
}

/** The folders of volumes of one pod. */
export async function listVolumesOf(place: Place, uid: string): Promise<PodVolumeName[]> {
  const [folders, devices] = [
    await namesIn(await place.pathOf(uid, volumesFolder, csiPlugin)),
    await namesIn(await place.pathOf(uid, pluginsFolder, csiPlugin)),
  ];
  return [
    ...folders.map((name) => ({ uid, name, isBlock: false })),
    ...devices.map((name) => ({ uid, name, isBlock: true })),
  ];
}

/** The volumes that are staged, or may be. */
export async function listStaged(place: Place): Promise<VolumeData[]> {
  const top = await place.sharedPath(...shared);
  const found: VolumeData[] = [];
  for (const driver of await namesIn(top))
    for (const name of await namesIn(join(top, driver))) {
      const isBlock = driver === blocks;
      const path = join(top, driver, name, ...(isBlock ? ['data'] : []), dataFile);
      const data = await readVolumeData(path);
      if (data !== undefined) found.push(isBlock ? { ...data, isBlock, name } : data);
    }
  return found;
}

/** None where there is no such folder. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}
