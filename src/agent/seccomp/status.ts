import type { Remark } from './types.ts';

/** The response of the agent to GET /seccomp. */
export interface SeccompStatus {
  /** Absolute path of the profiles' folder. */
  readonly folder: string;
  /** Why the list may be incomplete; unset when it is complete. */
  readonly problem?: string;
  /** Sorted by name. */
  readonly profiles: readonly ProfileStatus[];
}

export interface ProfileStatus {
  /** As in a pod's localhostProfile: its path below the folder. */
  readonly name: string;
  /** `sha256:…`; unset when the file could not be read or may still be changing. */
  readonly digest?: string;
  /** Bytes; unset when the digest is. */
  readonly size?: number;
  /** RFC 3339: the last change of content or inode; unset when not known. */
  readonly modified?: string;
  /** Unset when it has not been judged. */
  readonly valid?: boolean;
  readonly errors: readonly Remark[];
  readonly warnings: readonly Remark[];
  readonly usedBy: readonly ProfileUser[];
}

/** A container of this node whose profile it is. */
export interface ProfileUser {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}
