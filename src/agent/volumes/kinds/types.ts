import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { DownwardFacts } from '../../downward/index.ts';
import type { Happening } from '../../node/events/index.ts';
import type { ObjectName, PodObjects } from '../../objects/index.ts';
import type { PodTokens } from '../../tokens/index.ts';
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
  /** What the pod names of the API. */
  readonly objects: PodObjects;
  readonly tokens: PodTokens;
  /** Volumes behind claims, and those that drivers make for a pod. */
  readonly persistent: Readonly<Record<'claimed' | 'inline', VolumeKeeper>>;
  /** What a pod can learn about itself and its node. */
  downward(pod: Pod): DownwardFacts;
  /** Why the runtime cannot mount images, or parts of them; undefined: it can. */
  imageMountFault(isInParts: boolean): string | undefined;
  /** Reports an Event about the pod. */
  report(pod: Pod, happening: Happening): void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Volumes that have files of others, and are set up and looked at again by their own rules. */
export interface VolumeKeeper {
  /** Sets one up unless that is done. */
  setUp(volume: PodVolume, signal: AbortSignal): Promise<void>;
  pathOf(volume: PodVolume): Promise<string>;
  /** A group that the processes of the pod get for it. */
  groupOf?(volume: PodVolume): Promise<number | undefined>;
}

/** What a volume is made of, once its files show it. */
export interface VolumeContent {
  /** For people, such as `configmap default/app version 7`. */
  readonly shows: string;
  /** When the files that show it were written; milliseconds of the wall clock. */
  readonly sinceMs: number;
  /** What it is made of, by `keyOf`; when one of these changes it is made again. */
  readonly objects?: ReadonlySet<string>;
  /** When it must be made again though nothing is known to have changed; milliseconds of the wall clock. */
  readonly renewMs?: number | undefined;
}

/**
 * One kind of volume. To add a kind is to add it to the table beside this. What fails rejects with an Error whose message may be
 * shown to users; a FinalVolumeError is not tried again.
 */
export interface VolumeKind {
  /** The folder below `volumes` of a pod, such as `kubernetes.io~empty-dir`; undefined: it has none. */
  readonly plugin?: string;
  /** Makes the volume, or what is missing of it; done again after each start of the agent. */
  setUp(volume: PodVolume, tools: VolumeTools, signal: AbortSignal): Promise<void>;
  /**
   * In place of `setUp`, for a volume whose files follow what they are made of: called again when that has changed. Where it
   * rejects, the files stay as they were.
   */
  fill?(volume: PodVolume, tools: VolumeTools, signal: AbortSignal): Promise<VolumeContent>;
  /** Where it is, once it is set up; an absolute path. */
  pathOf(volume: PodVolume, tools: VolumeTools): Promise<string>;
  /** The runtime mounts an image in place of a path; of such a one there is no path. */
  readonly isImage?: boolean;
  /** Whether its path is on file systems of others, which may hang. */
  readonly isForeign: boolean;
  /** Whether all of its mounts are read-only, whatever they say. */
  isReadOnly?(volume: PodVolume): boolean;
  /** A group that the processes of the pod get for it. */
  groupOf?(volume: PodVolume, tools: VolumeTools): Promise<number | undefined>;
  /** Removes what is in its folder when nothing is mounted there any more. Without it, only an empty folder is removed. */
  empty?(folder: Folder): Promise<void>;
}

export function keyOf({ kind, namespace, name }: ObjectName): string {
  return `${kind} ${namespace}/${name}`;
}

/** Nothing has failed: an answer is waited for, and the message says which. It is tried again when that is there. */
export class VolumePendingError extends Error {
  override readonly name = 'VolumePendingError';
}

/** It cannot be set up, however often it is tried. */
export class FinalVolumeError extends Error {
  override readonly name = 'FinalVolumeError';
}
