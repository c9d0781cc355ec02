import type { Judgement } from '../index.ts';

/** The result of checking a file that had settled. */
export type Verdict =
  | (Omit<Judgement, 'profile'> & {
      readonly kind: 'valid' | 'invalid';
      readonly sizeBytes: number;
      /** Wall clock, milliseconds: the last change of the file, by its own times. */
      readonly modifiedMs: number;
      /** Wall clock, milliseconds. */
      readonly judgedMs: number;
    })
  | {
      readonly kind: 'unreadable';
      readonly reason: string;
      /** Another try may succeed although the file has not changed: the machine was short of a resource. */
      readonly mayPass?: true;
      readonly judgedMs: number;
    }
  /** A pod names it and there is no such file. */
  | { readonly kind: 'missing'; readonly judgedMs: number };

export interface RegisteredProfile {
  /** Below the folder, with `/`. */
  readonly path: string;
  /** Undefined until it has settled for the first time. */
  readonly verdict: Verdict | undefined;
  /** It may have changed since the verdict and has not settled yet: the verdict is about its previous content. */
  readonly isSettling: boolean;
}

/** A change of the verdict; `before` is undefined for the first, `after` for a file that is gone. */
export interface ProfileChange {
  readonly path: string;
  readonly before: Verdict | undefined;
  readonly after: Verdict | undefined;
}

/** The profiles of this node. */
export interface SeccompRegistry {
  /** Sorted by path. */
  profiles(): readonly RegisteredProfile[];
  /** Finds a profile by the path that a pod names; undefined when none is known. */
  find(localhostProfile: string): RegisteredProfile | undefined;
  /** Calls the listener after a verdict has changed: the digest, or whether it is valid, readable or present. */
  onChange(listener: (change: ProfileChange) => void): Disposable;
}
