import type { Revision, StorageError, Store } from '../types.ts';
import type { StoreOrigin } from './origin.ts';

/** What a store holds and takes. Sizes in bytes. */
export interface StoreStats {
  readonly file: string;
  readonly groupSuffix: string;
  /** Null for a store that was made before this was recorded. */
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
  /** Rows looked at, with those of history. */
  readonly rows: number;
  /** What is wrong, at most a hundred things; empty: nothing. */
  readonly problems: readonly string[];
}

export interface DefragReport {
  readonly file: string;
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** What is done beside the work, a step at a time. */
export interface Reports {
  readonly stats: StoreStats;
  readonly check: CheckReport;
  readonly defrag: DefragReport;
}
export type TaskName = keyof Reports;

/** What of the past a store keeps. */
export interface HistoryFacts {
  /** How long it is to be kept, and how long it is. */
  readonly windowMs: number;
  readonly keptMs: number;
  /** How often it had to be cut because it took too much. */
  readonly cuts: number;
}

/** What an operator asks of a store. All rejects with a StorageError. */
export interface Maintenance {
  /** Whether this opening made the store. */
  readonly fresh: boolean;
  /** The database. */
  readonly file: string;
  readonly groupSuffix: string;
  /** How the store came to be; undefined for one that was made before this was recorded. */
  readonly origin: StoreOrigin | undefined;
  /** Why writes are answered `full`; undefined while they are not. */
  readonly noRoom: string | undefined;
  readonly history: HistoryFacts;
  /**
   * Runs beside reads and writes in bounded steps; one at a time, others wait. Two steps cannot be divided: SQLite's
   * own check of its structures at the end of `check`, and the first `defrag` of a store that an old version made.
   */
  run<N extends TaskName>(task: N): Promise<Reports[N]>;
  /** Keeps all history from now on until disposed of; answers the revision that can be read until then. */
  hold(): Promise<{ readonly revision: Revision } & Disposable>;
  /**
   * Answers writes `unavailable`, with the reason, until disposed of. Resolves with the revision behind which nothing comes
   * meanwhile, when all that was accepted before is answered.
   */
  holdWrites(reason: StorageError): Promise<{ readonly revision: Revision } & Disposable>;
}

export type MaintainedStore = Store & Maintenance;
