import type { ObjectName } from '../../objects/index.ts';
import type { Payload } from '../atomic/payload.ts';
import { toTree } from '../atomic/payload.ts';
import { writeFiles } from '../atomic/write.ts';
import { emptyFolder } from '../empty-folder.ts';
import type { Folder } from '../folder.ts';
import { volumesFolder } from '../place.ts';
import { groupOf, mountMemory, rootAccessOf, rootMode } from './pod-folder.ts';
import type { PodVolume, VolumeContent, VolumeKind, VolumeTools } from './types.ts';
import { keyOf } from './types.ts';

/** The files of a volume, and where they come from. */
export interface Collected {
  readonly files: Payload;
  /** For people, such as `configmap default/app version 7`. */
  readonly sources: readonly string[];
  readonly objects?: readonly ObjectName[];
  readonly renewMs?: number | undefined;
}

export interface FileSource {
  /** Such as `kubernetes.io~configmap`. */
  readonly plugin: string;
  /** Whether the files are never to be on a disk. */
  readonly isInMemory: boolean;
  /** Rejects with an Error for users. */
  collect(volume: PodVolume, tools: VolumeTools, signal: AbortSignal): Promise<Collected>;
}

/** A kind of volume whose files the agent writes, and nobody else: containers only read them. */
export function madeOfFiles(source: FileSource): VolumeKind {
  const { plugin } = source;
  const fill = async (volume: PodVolume, tools: VolumeTools, signal: AbortSignal): Promise<VolumeContent> => {
    const { files, sources, objects = [], renewMs } = await source.collect(volume, tools, signal);
    toTree(files); // nothing is made for what cannot be written
    signal.throwIfAborted();
    await using folder = await openVolume(volume, tools, source);
    const options = { nowMs: tools.clock.now(), group: groupOf(volume.pod) };
    const { sinceMs } = await writeFiles(folder, files, options);
    const shows = sources.join(', ') || 'no files';
    return { shows, sinceMs, renewMs, objects: new Set(objects.map(keyOf)) };
  };
  return {
    plugin,
    isForeign: false,
    isReadOnly: () => true,
    async setUp(volume, tools) {
      await fill(volume, tools, new AbortController().signal);
    },
    fill,
    pathOf: ({ uid, name }, { place }) => place.pathOf(uid, volumesFolder, plugin, name),
    empty: emptyFolder,
  };
}

/** Makes the folder, and mounts what keeps it in memory, where that is missing: also when another process has unmounted it. */
async function openVolume(
  { pod, uid, name }: PodVolume,
  { place, mounter }: VolumeTools,
  { plugin, isInMemory }: FileSource,
): Promise<Folder> {
  const path = await place.pathOf(uid, volumesFolder, plugin, name);
  await using parent = await place.make(uid, volumesFolder, plugin);
  let folder = await parent.make(name, rootMode);
  try {
    if (isInMemory && folder.mountId === parent.mountId) {
      await folder[Symbol.asyncDispose]();
      await mountMemory(path, mounter);
      folder = (await parent.open(name)) ?? (await parent.make(name, rootMode));
      if (!(await folder.isInMemory()))
        throw new Error(`${path} is not in memory though a tmpfs was mounted there`);
    }
    const access = rootAccessOf(pod);
    if (!(await folder.isFor(access))) await folder.setAccess(access.mode, access.group);
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}
