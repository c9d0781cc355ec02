import type { OpenFile, ProcessFacts } from './contents.ts';

/** What differs between two archives; a list is empty, a value missing, where nothing does. */
export interface Comparison {
  /** `container`: of one and the same. `pod`: of one that was started anew in between. `none`: of different ones. */
  readonly same: 'container' | 'pod' | 'none';
  /** Versions, images and names: in the order in which they deserve a look. */
  readonly facts: readonly Change<string>[];
  readonly processes: {
    readonly started: readonly ProcessFacts[];
    readonly ended: readonly ProcessFacts[];
    readonly changed: readonly ProcessChange[];
  };
  /** Of processes that are in both. */
  readonly files: { readonly opened: readonly ProcessFile[]; readonly closed: readonly ProcessFile[] };
  readonly mounts: Difference;
  readonly environment: Difference;
  readonly annotations: Difference;
  readonly changedFiles: {
    readonly count: Counted;
    readonly bytes: Counted;
    readonly files: readonly FileChange[];
  };
  /** Bytes of the log. */
  readonly log: Counted;
  /** Whether anything differs. */
  readonly differs: boolean;
  /** What was not understood, of which archive. */
  readonly notes: readonly string[];
}

export interface Change<T> {
  readonly what: string;
  readonly old: T;
  readonly new: T;
}

export interface Counted {
  readonly old: number;
  readonly new: number;
}

/** Names. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** What is the same is left out. */
export interface ProcessChange {
  readonly pid: number;
  readonly comm: string;
  readonly state?: { readonly old: string; readonly new: string };
  readonly threads?: Counted;
  readonly virtualBytes?: Counted;
  readonly privateBytes?: Counted;
  readonly sharedBytes?: Counted;
}

export interface ProcessFile extends OpenFile {
  readonly pid: number;
  readonly comm: string;
}

/** The size of a file of the container; undefined where it is as in the image. */
export interface FileChange {
  readonly path: string;
  readonly old?: number | 'removed';
  readonly new?: number | 'removed';
}
