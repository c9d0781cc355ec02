import type { Service } from '../index.ts';

/** An entry of a watched folder, as it was last read. No entry is opened for that. */
export interface FolderEntry {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Of the target of a symbolic link; `other` is a link without target, a FIFO or a device. */
  readonly kind: 'file' | 'socket' | 'folder' | 'other';
  /** Changes whenever the entry may have been replaced or written: device, inode, times and size, also of a link's target. */
  readonly identity: string;
  /** Present for a symbolic link. */
  readonly link?: true;
  readonly size: number;
  /** Wall clock, milliseconds since 1970. */
  readonly mtimeMs: number;
  /** Permissions, without the type. */
  readonly mode: number;
  readonly uid: number;
}

/** A folder as it was last read. */
export interface FolderView {
  /** By path. */
  readonly entries: ReadonlyMap<string, FolderEntry>;
  /** Why `entries` is empty or incomplete, and what to do: missing, unreadable, too many. */
  readonly problem?: string;
  /** There is no such folder. */
  readonly isMissing?: true;
  /** How changes are noticed. */
  readonly by: 'events' | 'polling';
}

/** The changes from one view to the next. `added` and `changed` are in the order of their paths. */
export interface FolderDiff {
  readonly view: FolderView;
  readonly added: readonly FolderEntry[];
  readonly changed: readonly FolderEntry[];
  /** As they were last read. */
  readonly removed: readonly FolderEntry[];
}

/** A folder that is followed while `run`, that of a service, is under way. */
export interface FolderWatch {
  /** Undefined until the first scan. */
  readonly view: FolderView | undefined;
  /**
   * Calls `listener` with each change, also when only `problem` has changed; the first call has all entries as added. A
   * listener that is added later has to read `view` itself. What a listener throws is logged.
   */
  onChange(listener: (diff: FolderDiff) => void): Disposable;
  /** Scans now, after a scan that is under way. Listeners have been called when it resolves. */
  rescan(): Promise<FolderView>;
  /** Follows the folder until the signal aborts. `ready` is called after the first scan, even when the folder is missing. */
  readonly run: Service['run'];
}
