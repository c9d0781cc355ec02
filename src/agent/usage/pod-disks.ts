import type { Pod } from '../../api/index.ts';
import { forEachConcurrently } from '../../base/index.ts';
import type { FolderSize } from './folder-size.ts';
import type { FolderSizes } from './folder-sizes.ts';
import type { DiskUsage } from './writable-layers.ts';

export interface PodDisksOptions {
  readonly sizes: FolderSizes;
  /** The folder of a container's logs; may throw for a name that can be no folder. */
  logFolder(pod: Pod, container: string): string;
  /** The folder of a pod's volume of the kind emptyDir; may throw like it. */
  emptyDirFolder(podUid: string, volume: string): string;
  layers(): Promise<ReadonlyMap<string, DiskUsage>>;
}

export interface PodDiskAsked {
  readonly pod: Pod;
  /** Names of containers that have one at the moment, with its id. */
  readonly containerIds: ReadonlyMap<string, string>;
}

/** What a pod has on the disks of its node. What is not known is missing. */
export interface PodDiskUsage {
  /** By the name of the container. */
  readonly logs: ReadonlyMap<string, FolderSize>;
  readonly writableLayers: ReadonlyMap<string, DiskUsage>;
  /** By the name of the volume: those of the kind emptyDir that are not in memory. */
  readonly emptyDirs: ReadonlyMap<string, FolderSize>;
}

/** Walks through folders are bounded by `FolderSizes`; this only bounds what waits. */
const concurrency = 8;

/**
 * What pods use of ephemeral storage: their logs, what their containers have written over their images, and their volumes of the
 * kind emptyDir on a disk. Network volumes are never looked into.
 */
export class PodDisks {
  readonly #options: PodDisksOptions;

  constructor(options: PodDisksOptions) {
    this.#options = options;
  }

  /** By uid of the pod. Without an answer of the runtime the writable layers are missing; without pods it is not asked. */
  async read(asked: readonly PodDiskAsked[]): Promise<ReadonlyMap<string, PodDiskUsage>> {
    if (asked.length === 0) return new Map();
    const layers = await this.#options.layers().catch((): ReadonlyMap<string, DiskUsage> => new Map());
    const usages = new Map<string, PodDiskUsage>();
    await forEachConcurrently(asked, concurrency, async (each) => {
      usages.set(each.pod.metadata?.uid ?? '', await this.#readPod(each, layers));
    });
    return usages;
  }

  async #readPod(
    { pod, containerIds }: PodDiskAsked,
    layers: ReadonlyMap<string, DiskUsage>,
  ): Promise<PodDiskUsage> {
    const { sizes, logFolder, emptyDirFolder } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    const measure = (names: readonly string[], folderOf: (name: string) => string) =>
      measureAll(names, folderOf, sizes);
    const logs = await measure(containerNames(pod), (name) => logFolder(pod, name));
    const emptyDirs = await measure(emptyDirsOnDisk(pod), (name) => emptyDirFolder(uid, name));
    const writableLayers = new Map<string, DiskUsage>();
    for (const [name, id] of containerIds) {
      const layer = layers.get(id);
      if (layer !== undefined) writableLayers.set(name, layer);
    }
    return { logs, writableLayers, emptyDirs };
  }
}

async function measureAll(
  names: readonly string[],
  folderOf: (name: string) => string,
  sizes: FolderSizes,
): Promise<ReadonlyMap<string, FolderSize>> {
  const found = new Map<string, FolderSize>();
  for (const name of names) {
    const folder = tryFolder(() => folderOf(name));
    const size = folder === undefined ? undefined : await sizes.size(folder);
    if (size !== undefined) found.set(name, size);
  }
  return found;
}

/** A name that can be no folder has none. */
function tryFolder(folderOf: () => string): string | undefined {
  try {
    return folderOf();
  } catch {
    return undefined;
  }
}

function containerNames({ spec }: Pod): string[] {
  const all = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  return all.flatMap(({ name }) => name ?? []);
}

/** Volumes of the kind emptyDir that lie on a disk: those in memory count as memory. */
export function emptyDirsOnDisk({ spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, emptyDir }) =>
    name === undefined || emptyDir === undefined || (emptyDir.medium ?? '') !== '' ? [] : [name],
  );
}

/** Bytes and inodes of ephemeral storage that a pod uses; a lower bound where something is not known. */
export function ephemeralUse({ logs, writableLayers, emptyDirs }: PodDiskUsage): {
  usedBytes: number;
  inodes: number;
} {
  const all = [...logs.values(), ...emptyDirs.values(), ...writableLayers.values()];
  return {
    usedBytes: all.reduce((sum, { usedBytes = 0 }) => sum + usedBytes, 0),
    inodes: all.reduce((sum, { inodes = 0 }) => sum + inodes, 0),
  };
}
