import type { Pod } from '../../api/index.ts';

/** What is known of the image of one container of one pod. */
export type ImageState =
  | { readonly state: 'present'; readonly id: string; readonly user: ContainerUserOfImage }
  /** It is being pulled, or waits for its turn. */
  | { readonly state: 'pulling'; readonly message: string }
  | {
      readonly state: 'failed';
      /** `ErrImagePull`, `ImagePullBackOff`, `ErrImageNeverPull`, `InvalidImageName`, `ImageInspectError`, … */
      readonly reason: string;
      readonly message: string;
      /** When it is tried again; undefined: when something changes. */
      readonly untilMs: number | undefined;
    };

/** Who the image's first process runs as, unless the pod says otherwise: root where neither is set. */
export interface ContainerUserOfImage {
  readonly uid?: number;
  readonly username?: string;
}

export interface ImageWish {
  readonly pod: Pod;
  readonly container: string;
  /** Such as `nginx:1.27`, as the pod names it. */
  readonly image: string;
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** The attempt of the container that is to be started: with the policy Always each attempt asks the registry again. */
  readonly attempt: number;
}

/** Brings images to the node: pulls them by the pods' policies, shares pulls, waits after failures. */
export interface Images {
  /**
   * The state of the image for that attempt of the container; the first call starts what must be done, and later ones only
   * look. Never waits.
   */
  want(wish: ImageWish): ImageState;
  /** Forgets what was kept for the pod, and ends its pulls that nobody else waits for. */
  forget(podUid: string): void;
  /** Calls `listener` with the uid of a pod when the state of one of its images has changed. */
  onChange(listener: (podUid: string) => void): Disposable;
}
