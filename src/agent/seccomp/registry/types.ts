import type { Judgement } from '../index.ts';

/** What is known of a file that was looked at while it was at rest. */
export type Verdict =
  | (Omit<Judgement, 'profile'> & {
      readonly kind: 'valid' | 'invalid';
      readonly sizeBytes: number;
      /** Wall clock, milliseconds: since when the file is as it is, by its own times. */
      readonly modifiedMs: number;
      /** Wall clock, milliseconds. */
      readonly judgedMs: number;
    })
  | {
      readonly kind: 'unreadable';
      readonly reason: string;
      /** It is worth another try although nothing changes: the machine was short of something. */
      readonly mayPass?: true;
      readonly judgedMs: number;
    }
  /** A pod names it and it is not there. */
  | { readonly kind: 'missing'; readonly judgedMs: number };

export interface RegisteredProfile {
  /** Below the folder, with `/`. */
  readonly path: string;
  /** Absent until it was at rest for the first time. */
  readonly verdict: Verdict | undefined;
  /** It has changed since the verdict, and is not at rest yet: the verdict is that of the former content. */
  readonly isSettling: boolean;
}

/** From one verdict to the next; `before` is absent for the first, `after` for a file that is gone. */
export interface ProfileChange {
  readonly path: string;
  readonly before: Verdict | undefined;
  readonly after: Verdict | undefined;
}

/** The profiles of this node. */
export interface SeccompRegistry {
  /** In the order of their paths. */
  profiles(): readonly RegisteredProfile[];
  /** By the path that a pod names; undefined where none is known. */
  find(localhostProfile: string): RegisteredProfile | undefined;
  /** After a verdict has changed: another digest, valid or not, readable or not, there or not. */
  onChange(listener: (change: ProfileChange) => void): Disposable;
}
