import { listContainers } from '../../downward/index.ts';
import type { VolumeKind } from './types.ts';

/**
 * The files of an image, which the runtime mounts. The image is pulled like those of containers, and what is wrong with it is said
 * as of those.
 */
export const image: VolumeKind = {
  isForeign: true,
  isImage: true,
  isReadOnly: () => true,
  async setUp({ pod, name }, { imageMountFault }) {
    const mounts = listContainers(pod).flatMap(({ volumeMounts = [] }) => volumeMounts);
    const isInParts = mounts.some(
      ({ name: volume, subPath = '', subPathExpr = '' }) =>
        volume === name && (subPath || subPathExpr) !== '',
    );
    const fault = imageMountFault(isInParts);
    if (fault !== undefined) throw new Error(fault);
  },
  async pathOf() {
    throw new Error('a volume of an image has no path on the node');
  },
};

type Version = readonly [major: number, minor: number];

/** The first versions of runtimes that mount images, and parts of them. Others are asked, and say themselves what they cannot. */
const since: Readonly<Record<string, { readonly whole: Version; readonly parts: Version }>> = {
  containerd: { whole: [2, 1], parts: [2, 2] },
  'cri-o': { whole: [1, 31], parts: [1, 33] },
};

/**
 * Why a runtime cannot mount images, or parts of them; undefined: it can, as far as is known. An older one would mount nothing, or
 * the whole in place of the part.
 */
export function findImageMountFault(name: string, version: string, isInParts: boolean): string | undefined {
  const known = since[name];
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (known === undefined || major === undefined) return undefined;
  const first = isInParts ? known.parts : known.whole;
  const isOlder = Number(major) < first[0] || (Number(major) === first[0] && Number(minor) < first[1]);
  if (!isOlder) return undefined;
  const what = isInParts ? 'parts of images (subPath)' : 'images';
  return `the container runtime ${name} ${version} cannot mount ${what} as volumes: ${name} ${first.join('.')} and later can`;
}
