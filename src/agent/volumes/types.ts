import type { Pod } from '../../api/index.ts';

/** Whether the volumes of a pod are there. */
export type VolumesState =
  | { readonly state: 'ready' }
  | {
      readonly state: 'waiting';
      /** Such as `FailedMount`; empty while nothing has failed. */
      readonly reason: string;
      readonly message: string;
      readonly untilMs?: number | undefined;
    };

/** A mount for a container, as the runtime gets it. */
export interface VolumeMount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly isReadOnly: boolean;
  readonly isRecursiveReadOnly: boolean;
  readonly propagation: 'None' | 'HostToContainer' | 'Bidirectional';
  /** Of an image volume: the image instead of a path. */
  readonly image?: { readonly id: string; readonly subPath: string } | undefined;
}

/** What a container gets for volumes beside its mounts. */
export interface VolumeAccess {
  /** Block devices, in the order of its `volumeDevices`. */
  readonly devices: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    /** As in cgroups: `r`, or `mrw`. */
    readonly permissions: string;
  }[];
  /** Groups that volumes of its pod ask for. */
  readonly groups: readonly number[];
}

/** What the files of a volume are made of, as they are now. */
export interface CurrentContent {
  readonly volume: string;
  /** For people, such as `configmap default/app version 7`. */
  readonly shows: string;
  /** When these files were written; milliseconds of the wall clock. */
  readonly sinceMs: number;
  /** Why something newer could not be written; it is tried again. */
  readonly problem?: string | undefined;
}

/** The volumes of the node's pods, below `pods/UID/volumes` of the root folder. */
export interface Volumes {
  /** Whether they are there; the first call begins to set them up, later ones only look. Never waits. */
  want(pod: Pod): VolumesState;
  /**
   * The mounts of one container, in the order of its `volumeMounts`; prepares its sub-paths. Rejects with an Error whose
   * message may be shown to users. `environment` is that of the container, in its order: `subPathExpr` names its variables.
   * `images` are the ids of those that it mounts, by the names of the volumes.
   */
  mountsOf(
    pod: Pod,
    container: string,
    environment?: readonly { readonly name: string; readonly value: string }[],
    images?: ReadonlyMap<string, string>,
  ): Promise<readonly VolumeMount[]>;
  /** The same for its block devices, and for groups. */
  accessOf(pod: Pod, container: string): Promise<VolumeAccess>;
  /**
   * Reads a text file of an emptyDir of the pod that is set up, by its path in it. Rejects with an Error whose message may be shown
   * to users.
   */
  readFile(pod: Pod, volume: string, path: string): Promise<string>;
  /** Unmounts and removes what the pod has here. Resolves when nothing is left; rejects with what is in the way. */
  release(pod: { readonly uid: string; readonly namespace: string; readonly name: string }): Promise<void>;
  /** What the files of the pod's volumes are made of, by the names of the volumes. */
  contentsOf(podUid: string): readonly CurrentContent[];
  /** Calls `listener` with the uid of a pod when the state of its volumes has changed. */
  onChange(listener: (podUid: string) => void): Disposable;
}
