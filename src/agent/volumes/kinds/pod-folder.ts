import { release } from 'node:os';
import type { Pod } from '../../../api/index.ts';
import type { FileAccess } from '../folder.ts';
import type { Mounter } from '../mounter.ts';

/* The folder of a volume that is made for one pod. */

/** Everybody may enter and write, as far as the mount lets them: the containers of a pod run as any user. */
export const rootMode = 0o777;
const setGroupId = 0o2000;

/** The group of the volumes of the pod owns the folder and everything that is made in it. */
export function rootAccessOf(pod: Pod): Pick<FileAccess, 'mode' | 'group'> {
  const group = groupOf(pod);
  return { mode: group === undefined ? rootMode : rootMode | setGroupId, group };
}

/** The `fsGroup` of the pod. */
export function groupOf({ spec }: Pod): number | undefined {
  const fsGroup = spec?.securityContext?.fsGroup;
  return fsGroup === undefined ? undefined : Number(fsGroup);
}

/** Mounts a folder in memory; without `bytes` the limit is the kernel's own, half of the memory. Kept out of swap where that is possible. */
export async function mountMemory(path: string, mounter: Mounter, bytes?: bigint): Promise<void> {
  const options = [`mode=${rootMode.toString(8)}`, ...(bytes === undefined ? [] : [`size=${bytes}`])];
  const [plain, unswapped] = [options.join(','), [...options, 'noswap'].join(',')];
  if (!hasNoSwapOption(release())) return await mounter.mountTmpfs(path, plain);
  try {
    await mounter.mountTmpfs(path, unswapped);
  } catch {
    await mounter.mountTmpfs(path, plain); // in a user namespace the kernel refuses that option
  }
}

/** Linux 6.4 and later keep a tmpfs out of swap when asked to. */
export function hasNoSwapOption(kernelRelease: string): boolean {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(kernelRelease) ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 4);
}
