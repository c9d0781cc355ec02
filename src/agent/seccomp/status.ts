import type { Remark } from './types.ts';

/** What the agent answers to GET /seccomp. */
export interface SeccompStatus {
  /** Absolute: where the profiles lie. */
  readonly folder: string;
  /** Why the list may not be whole; unset where it is. */
  readonly problem?: string;
  /** In the order of their names. */
  readonly profiles: readonly ProfileStatus[];
}

export interface ProfileStatus {
  /** As a pod names it: its path below the folder. */
  readonly name: string;
  /** `sha256:…`; unset where the file could not be read or is not at rest yet. */
  readonly digest?: string;
  /** Bytes; unset as the digest. */
  readonly size?: number;
  /** RFC 3339: since when it is as it is; unset where that is not known. */
  readonly modified?: string;
  /** Unset where it has not been judged. */
  readonly valid?: boolean;
  readonly errors: readonly Remark[];
  readonly warnings: readonly Remark[];
  readonly usedBy: readonly ProfileUser[];
}

/** A container of this node that names the profile. */
export interface ProfileUser {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}
