import type { Service } from '../index.ts';

/** Something in a watched folder, as it was last seen. Nothing is opened to find it out. */
export interface FolderEntry {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Of what a symbolic link leads to; `other` is also a link that leads nowhere, a FIFO and a device. */
  readonly kind: 'file' | 'socket' | 'folder' | 'other';
  /** Another one whenever the entry may be another: device, inode, times and size, of a link also those of its target. */
  readonly identity: string;
  /** It is a symbolic link. */
  readonly link?: true;
  readonly size: number;
  /** Wall clock, milliseconds since 1970. */
  readonly mtimeMs: number;
  /** Permissions, without the type. */
  readonly mode: number;
  readonly uid: number;
}

/** A folder as it was last seen. */
export interface FolderView {
  /** By path. */
  readonly entries: ReadonlyMap<string, FolderEntry>;
  /** Why this is not, or not all of, what should be here, and what to do: missing, unreadable, too many. */
  readonly problem?: string;
  /** There is no such folder. */
  readonly isMissing?: true;
  /** How changes are noticed. */
  readonly by: 'events' | 'polling';
}

/** What has changed from one view to the next. `added` and `changed` are in the order of their paths. */
export interface FolderDiff {
  readonly view: FolderView;
  readonly added: readonly FolderEntry[];
  readonly changed: readonly FolderEntry[];
  /** As they were last seen. */
  readonly removed: readonly FolderEntry[];
}

/** A folder that is followed. Its `run` is that of a service. */
export interface FolderWatch {
  /** Undefined until the folder has been looked at. */
  readonly view: FolderView | undefined;
  /**
   * Calls `listener` with each change, also when only `problem` has changed; the first call has all that is there as added.
   * A listener that comes later has to look at `view`. What it throws is logged.
   */
  onChange(listener: (diff: FolderDiff) => void): Disposable;
  /** Looks now; after a scan that is under way, never beside it. Listeners have been called when it resolves. */
  rescan(): Promise<FolderView>;
  /** Follows the folder until the signal aborts. `ready` is called after the first look, also when there is nothing. */
  readonly run: Service['run'];
}
