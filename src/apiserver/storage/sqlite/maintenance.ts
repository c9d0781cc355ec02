import type { Revision, StorageError, Store } from '../types.ts';
import type { StoreOrigin } from './origin.ts';

/** The contents and sizes of a store. Sizes in bytes. */
export interface StoreStats {
  readonly file: string;
  readonly groupSuffix: string;
  /** Null for a store that was created before this was recorded. */
  readonly origin: StoreOrigin | null;
  readonly revision: Revision;
  /** The oldest revision that can still be read. */
  readonly compacted: Revision;
  readonly objects: number;
  /** Of the objects, without their history. */
  readonly objectBytes: number;
  /** By the first parts of their keys, in order. */
  readonly prefixes: readonly { readonly prefix: string; readonly objects: number; readonly bytes: number }[];
  readonly history: { readonly bytes: number; readonly limitBytes: number | null };
  readonly sizes: {
    readonly database: number;
    /** Of the database, not in use. */
    readonly free: number;
    readonly log: number;
    readonly reserve: number;
  };
}

export interface CheckReport {
  readonly file: string;
  readonly revision: Revision;
  readonly objects: number;
  /** Rows checked, including those of history. */
  readonly rows: number;
  /** At most a hundred; empty: none was found. */
  readonly problems: readonly string[];
}

export interface DefragReport {
  readonly file: string;
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** The results of the tasks that run beside reads and writes, a step at a time. */
export interface Reports {
  readonly stats: StoreStats;
  readonly check: CheckReport;
  readonly defrag: DefragReport;
}
export type TaskName = keyof Reports;

/** The history that a store keeps. */
export interface HistoryFacts {
  /** The configured and the actual length of history. */
  readonly windowMs: number;
  readonly keptMs: number;
  /** How often history was cut because it took too many bytes. */
  readonly cuts: number;
}

/** The operator's access to a store. All methods reject with a StorageError. */
export interface Maintenance {
  /** Whether the store was created when it was opened. */
  readonly fresh: boolean;
  /** The database. */
  readonly file: string;
  readonly groupSuffix: string;
  /** How the store was created; undefined for one that was created before this was recorded. */
  readonly origin: StoreOrigin | undefined;
  /** Why writes fail with `full`; undefined while they do not. */
  readonly noRoom: string | undefined;
  readonly history: HistoryFacts;
  /**
   * Runs a task beside reads and writes, in bounded steps; one task at a time, others wait. Two steps cannot be divided:
   * SQLite's own check of its structures at the end of `check`, and the first `defrag` of a store that an old version
   * created.
   */
  run<N extends TaskName>(task: N): Promise<Reports[N]>;
  /** Keeps all history from now on until disposed of. Returns the revision that can be read until then. */
  hold(): Promise<{ readonly revision: Revision } & Disposable>;
  /**
   * Fails writes with `unavailable` and the reason until disposed of. Resolves when all writes accepted before are
   * answered, with the revision after which nothing is written meanwhile.
   */
  holdWrites(reason: StorageError): Promise<{ readonly revision: Revision } & Disposable>;
}

export type MaintainedStore = Store & Maintenance;
