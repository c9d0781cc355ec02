import { release } from 'node:os';
import { billionths } from '../../../api/index.ts';
import { emptyFolder } from '../empty-folder.ts';
import { Folder } from '../folder.ts';
import { isMountedAt } from '../mounter.ts';
import { pluginsFolder, volumesFolder } from '../place.ts';
import { memoryLimitOf } from './memory-limit.ts';
import type { PodVolume, VolumeKind, VolumeTools } from './types.ts';
import { FinalVolumeError } from './types.ts';

const plugin = 'kubernetes.io~empty-dir';
const ready = 'ready';
/** Everybody may write: the containers of a pod run as any user. */
const mode = 0o777;
const setGroupId = 0o2000;

/** A folder that lives as long as the pod: on the disk of the root folder, or in memory. */
export const emptyDir: VolumeKind = {
  plugin,
  isForeign: false,
  async setUp(volume, tools) {
    const { uid, name, source } = volume;
    const { medium = '' } = source.emptyDir ?? {};
    if (medium !== '' && medium !== 'Memory') throw new FinalVolumeError(describeMedium(medium));
    const { place } = tools;
    await using marker = await place.make(uid, pluginsFolder, plugin, name);
    const path = await place.pathOf(uid, volumesFolder, plugin, name);
    await using parent = await place.make(uid, volumesFolder, plugin);
    const isMounted = isMountedAt(path);
    const isThere = medium === 'Memory' ? isMounted : await parent.has(name);
    if (isThere && (await marker.has(ready))) return;
    await (await parent.make(name, mode))[Symbol.asyncDispose]();
    if (medium === 'Memory' && !isMounted) await mountMemory(path, volume, tools);
    await setAccess(path, volume);
    await marker.makeFile(ready, 0o640);
  },
  pathOf: ({ uid, name }, { place }) => place.pathOf(uid, volumesFolder, plugin, name),
  empty: emptyFolder,
};

/** The group of the volumes of the pod owns the folder and everything that is made in it. */
async function setAccess(path: string, { pod }: PodVolume): Promise<void> {
  const fsGroup = pod.spec?.securityContext?.fsGroup;
  await using folder = await Folder.at(path); // opened after mounting: the root of what is mounted
  if (fsGroup === undefined) await folder.setAccess(mode, undefined);
  else await folder.setAccess(mode | setGroupId, Number(fsGroup));
}

async function mountMemory(
  path: string,
  volume: PodVolume,
  { mounter, memoryBytes }: VolumeTools,
): Promise<void> {
  const bytes = sizeOf(volume, memoryBytes());
  const options = [`mode=${mode.toString(8)}`, ...(bytes === undefined ? [] : [`size=${bytes}`])];
  const [plain, unswapped] = [options.join(','), [...options, 'noswap'].join(',')];
  if (!hasNoSwapOption(release())) return await mounter.mountTmpfs(path, plain);
  try {
    await mounter.mountTmpfs(path, unswapped);
  } catch {
    await mounter.mountTmpfs(path, plain); // in a user namespace the kernel refuses that option
  }
}

/** The least of what the volume, the pod and the node say; undefined: the kernel's own limit, half of the memory. */
function sizeOf({ pod, source }: PodVolume, nodeBytes: number | undefined): bigint | undefined {
  const { sizeLimit } = source.emptyDir ?? {};
  const own = sizeLimit === undefined ? 0n : billionths(sizeLimit) / 1_000_000_000n;
  const limits = [own, memoryLimitOf(pod) ?? 0n, BigInt(Math.trunc(nodeBytes ?? 0))].filter(
    (each) => each > 0n,
  );
  return limits.length === 0 ? undefined : limits.reduce((least, each) => (each < least ? each : least));
}

/** Linux 6.4 and later keep a tmpfs out of swap when asked to. */
export function hasNoSwapOption(kernelRelease: string): boolean {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(kernelRelease) ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 4);
}

function describeMedium(medium: string): string {
  return medium.startsWith('HugePages')
    ? `an emptyDir of the medium ${medium} is not supported by this agent`
    : `unknown storage medium ${JSON.stringify(medium)}`;
}
