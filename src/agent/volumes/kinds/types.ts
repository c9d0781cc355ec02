import type { Pod } from '../../../api/index.ts';
import type { Folder } from '../folder.ts';
import type { Mounter } from '../mounter.ts';
import type { Place } from '../place.ts';
import type { Tools } from '../tools.ts';

export type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** One volume of one pod. */
export interface PodVolume {
  readonly pod: Pod;
  readonly uid: string;
  readonly name: string;
  readonly source: Volume;
}

/** What kinds of volumes work with. */
export interface VolumeTools {
  readonly place: Place;
  readonly mounter: Mounter;
  readonly tools: Tools;
  /** Allocatable memory of the node; undefined while it is not known. */
  memoryBytes(): number | undefined;
}

/**
 * One kind of volume. To add a kind is to add it to the table beside this. What fails rejects with an Error whose message may be
 * shown to users; a FinalVolumeError is not tried again.
 */
export interface VolumeKind {
  /** The folder below `volumes` of a pod, such as `kubernetes.io~empty-dir`; undefined: it has none. */
  readonly plugin?: string;
  /** Makes the volume, or what is missing of it; done again after each start of the agent. */
  setUp(volume: PodVolume, tools: VolumeTools): Promise<void>;
  /** Where it is, once it is set up; an absolute path. */
  pathOf(volume: PodVolume, tools: VolumeTools): Promise<string>;
  /** Whether its path is on file systems of others, which may hang. */
  readonly isForeign: boolean;
  /** Whether all of its mounts are read-only, whatever they say. */
  isReadOnly?(volume: PodVolume): boolean;
  /** Removes what is in its folder when nothing is mounted there any more. Without it, only an empty folder is removed. */
  empty?(folder: Folder): Promise<void>;
}

/** It cannot be set up, however often it is tried. */
export class FinalVolumeError extends Error {
  override readonly name = 'FinalVolumeError';
}
