import { DeadlineError } from '../../../base/index.ts';
import type { Mounter } from '../mounter.ts';
import { isMountedAt, makeMountPoint } from '../mounter.ts';
import type { Place } from '../place.ts';
import { volumesFolder } from '../place.ts';
import type { Tools } from '../tools.ts';
import { mountDeviceStep, VolumeError } from '../volume-error.ts';
import type { LocalDevices } from './local-devices.ts';
import type { ClaimedVolume } from './resolve.ts';

export const localPlugin = 'kubernetes.io~local-volume';

export interface LocalTools {
  readonly place: Place;
  readonly mounter: Mounter;
  readonly tools: Tools;
}

/** Where a pod has a volume that is a folder of the node. */
export function localPath(place: Place, uid: string, name: string): Promise<string> {
  return place.pathOf(uid, volumesFolder, localPlugin, name);
}

/** Mounts the folder, or the file system of the device, for a pod, unless that is done. */
export async function mountLocal(
  uid: string,
  volume: ClaimedVolume,
  isReadOnly: boolean,
  { place, mounter, tools, devices }: LocalTools & { readonly devices: LocalDevices },
  signal: AbortSignal,
): Promise<void> {
  const { name, spec } = volume;
  const path = await localPath(place, uid, name);
  if (isMountedAt(path)) return;
  const bind = async (source: string) => {
    await using parent = await place.make(uid, volumesFolder, localPlugin);
    await makeMountPoint(parent, name, true);
    await mounter.bind(source, path, { isReadOnly });
  };
  const source = spec.local?.path ?? '';
  const type = await readType(source, tools);
  if (type === 'directory') await bind(source);
  else if (type === blockDevice) await devices.withMounted(volume, isReadOnly, signal, bind);
  else throw new VolumeError('only directory and block device are supported', { step: mountDeviceStep });
}

const blockDevice = 'block special file';

/** The device that a volume is. */
export async function findLocalDevice({ spec }: ClaimedVolume, tools: Tools): Promise<string> {
  const path = spec.local?.path ?? '';
  const type = await readType(path, tools);
  if (type !== blockDevice) throw new Error(`${path} is a ${type}, not a block device`);
  return path;
}

const timeoutMs = 10_000;

/** By a program with a deadline: the path may be on any file system. */
async function readType(path: string, tools: Tools): Promise<string> {
  if (!path.startsWith('/') || path.split('/').includes('..'))
    throw new Error(`invalid path: ${path} must be absolute and must not contain '..'`);
  try {
    const { code, output, errors } = await tools.run('stat', ['-L', '--printf=%F', '--', path], timeoutMs);
    if (code === 0) return output.trim();
    if (errors.includes('No such file or directory'))
      throw new Error(`path ${JSON.stringify(path)} does not exist`);
    throw new Error(`path ${JSON.stringify(path)} cannot be looked at: ${errors.trim()}`);
  } catch (error) {
    if (error instanceof DeadlineError)
      throw new Error(`path ${JSON.stringify(path)} does not answer within ${timeoutMs / 1000} s`);
    throw error;
  }
}
