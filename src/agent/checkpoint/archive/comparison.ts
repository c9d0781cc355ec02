import type { OpenFile, ProcessFacts } from './contents.ts';

/** The differences between two archives; a list is empty, a value missing, where there is none. */
export interface Comparison {
  /** `container`: both are of the same container. `pod`: it was started again in between. `none`: of different containers. */
  readonly same: 'container' | 'pod' | 'none';
  /** Versions, images and names, the most important first. */
  readonly facts: readonly Change<string>[];
  readonly processes: {
    readonly started: readonly ProcessFacts[];
    readonly ended: readonly ProcessFacts[];
    readonly changed: readonly ProcessChange[];
  };
  /** Files of processes that are in both. */
  readonly files: { readonly opened: readonly ProcessFile[]; readonly closed: readonly ProcessFile[] };
  readonly mounts: Difference;
  readonly environment: Difference;
  readonly annotations: Difference;
  readonly changedFiles: {
    readonly count: NumberChange;
    readonly bytes: NumberChange;
    readonly files: readonly FileChange[];
  };
  /** Size of the log in bytes. */
  readonly log: NumberChange;
  /** Whether anything differs. */
  readonly differs: boolean;
  /** What was not understood; each note names its archive. */
  readonly notes: readonly string[];
}

export interface Change<T> {
  readonly what: string;
  readonly old: T;
  readonly new: T;
}

export interface NumberChange {
  readonly old: number;
  readonly new: number;
}

/** The names that were added, removed or changed. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Values that are the same are left out. */
export interface ProcessChange {
  readonly pid: number;
  readonly comm: string;
  readonly state?: { readonly old: string; readonly new: string };
  readonly threads?: NumberChange;
  readonly virtualBytes?: NumberChange;
  readonly privateBytes?: NumberChange;
  readonly sharedBytes?: NumberChange;
}

export interface ProcessFile extends OpenFile {
  readonly pid: number;
  readonly comm: string;
}

/** The sizes of a file of the container in both archives; undefined where it is as in the image. */
export interface FileChange {
  readonly path: string;
  readonly old?: number | 'removed';
  readonly new?: number | 'removed';
}
