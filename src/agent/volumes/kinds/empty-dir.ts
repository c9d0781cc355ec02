import { billionths } from '../../../api/index.ts';
import { emptyFolder } from '../empty-folder.ts';
import { isMountedAt } from '../mounter.ts';
import { pluginsFolder, volumesFolder } from '../place.ts';
import { memoryLimitOf } from './memory-limit.ts';
import { mountMemory, rootAccessOf, rootMode } from './pod-folder.ts';
import type { PodVolume, VolumeKind } from './types.ts';
import { FinalVolumeError } from './types.ts';

const plugin = 'kubernetes.io~empty-dir';
const ready = 'ready';

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
    await (await parent.make(name, rootMode))[Symbol.asyncDispose]();
    if (medium === 'Memory' && !isMounted)
      await mountMemory(path, tools.mounter, sizeOf(volume, tools.memoryBytes()));
    await using folder = await parent.make(name, rootMode); // after mounting: the root of what is mounted
    const access = rootAccessOf(volume.pod);
    await folder.setAccess(access.mode, access.group);
    await marker.makeFile(ready, 0o640);
  },
  pathOf: ({ uid, name }, { place }) => place.pathOf(uid, volumesFolder, plugin, name),
  empty: emptyFolder,
};

/** The least of what the volume, the pod and the node say; undefined: the kernel's own limit, half of the memory. */
function sizeOf({ pod, source }: PodVolume, nodeBytes: number | undefined): bigint | undefined {
  const { sizeLimit } = source.emptyDir ?? {};
  const own = sizeLimit === undefined ? 0n : billionths(sizeLimit) / 1_000_000_000n;
  const limits = [own, memoryLimitOf(pod) ?? 0n, BigInt(Math.trunc(nodeBytes ?? 0))].filter(
    (each) => each > 0n,
  );
  return limits.length === 0 ? undefined : limits.reduce((least, each) => (each < least ? each : least));
}

function describeMedium(medium: string): string {
  return medium.startsWith('HugePages')
    ? `an emptyDir of the medium ${medium} is not supported by this agent`
    : `unknown storage medium ${JSON.stringify(medium)}`;
}
