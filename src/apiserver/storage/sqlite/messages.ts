/**
 * The messages between the event loop and the writer thread. Everything is sent in batches, with all bytes of a batch in
 * one buffer that is transferred, not copied: a message costs some microseconds, however large it is.
 */
import type { FailureCode, Revision, StorageErrorCode } from '../types.ts';
import type { Reports, TaskName } from './maintenance.ts';
import type { StoreOrigin } from './origin.ts';

/** Concatenated byte strings; the one at `index` ends at `ends[index]`. */
export interface PackedBytes {
  readonly ends: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** States of keys. A `createRevision` of 0: the key is absent or deleted, and its bytes are empty. */
export interface PackedStates {
  readonly revisions: readonly Revision[];
  readonly createRevisions: readonly Revision[];
  readonly values: PackedBytes;
}

/** How a database is opened. */
export interface DatabaseSettings {
  readonly file: string;
  /** Undefined: the one that the store was created with; the store must exist then. */
  readonly groupSuffix: string | undefined;
  readonly limitBytes: number | undefined;
  /** Recorded in a store that is created; default: nothing. */
  readonly origin?: StoreOrigin | undefined;
}

/** Settings of the writer, given to the thread when it starts. */
export interface WriterSettings extends DatabaseSettings {
  /** Beyond it the oldest history is forgotten, however young; default: no bound. */
  readonly historyBytes?: number | undefined;
  /** Reserved beside the database for a full disk; default: nothing. */
  readonly reserveBytes?: number | undefined;
}

export type ToWriter =
  | {
      readonly type: 'write';
      readonly keys: readonly string[];
      readonly expects: readonly Revision[];
      /** 1: a deletion. */
      readonly deletions: readonly number[];
      /** 1: the answer must hold the previous state. */
      readonly wantPrevious: readonly number[];
      readonly values: PackedBytes;
    }
  | { readonly type: 'read'; readonly id: number; readonly request: ReadRequest }
  | { readonly type: 'compact'; readonly upTo: Revision }
  /** History from `from` on must stay; Infinity: no longer. */
  | { readonly type: 'hold'; readonly from: Revision }
  | { readonly type: 'task'; readonly id: number; readonly task: TaskName }
  | { readonly type: 'close' };

export type ReadRequest =
  | {
      readonly kind: 'list';
      readonly prefix: string;
      readonly revision: Revision;
      readonly from: ListCursor;
      /** 0: as many as one step takes. */
      readonly limit: number;
    }
  | {
      readonly kind: 'count';
      readonly prefix: string;
      readonly revision: Revision;
      readonly from: ListCursor;
    }
  | {
      readonly kind: 'replay';
      readonly prefix: string;
      readonly after: Revision;
      readonly upTo: Revision;
    };

/** Where a step continues: after the key `after`; in a key with a long history, at its version `version`. */
export interface ListCursor {
  readonly after: string;
  readonly version?: { readonly key: string; readonly revision: Revision } | undefined;
}

export type ReadAnswer =
  | 'compacted'
  | 'future'
  | {
      readonly kind: 'list';
      readonly keys: readonly string[];
      readonly states: PackedStates;
      readonly next: ListCursor | null;
    }
  | { readonly kind: 'count'; readonly count: number; readonly next: ListCursor | null }
  | PackedReplay;

export interface PackedReplay {
  readonly kind: 'replay';
  readonly keys: readonly string[];
  readonly revisions: readonly Revision[];
  readonly next: PackedStates;
  readonly previous: PackedStates;
  /** Everything up to and including this revision is in this replay. */
  readonly through: Revision;
}

/** The result of one write of a group. */
export const writeResult = { ok: 0, conflict: 1, failed: 2 } as const;

export type FromWriter =
  | {
      readonly type: 'opened';
      readonly revision: Revision;
      readonly compacted: Revision;
      readonly fresh: boolean;
      readonly groupSuffix: string;
      readonly origin: StoreOrigin | undefined;
    }
  | { readonly type: 'openFailed'; readonly code: StorageErrorCode; readonly message: string }
  | GroupResult
  | { readonly type: 'readDone'; readonly id: number; readonly answer: ReadAnswer }
  | {
      readonly type: 'readFailed';
      readonly id: number;
      readonly code: StorageErrorCode;
      readonly message: string;
    }
  /** `shrunk`: history was forgotten because of its size, before its time. */
  | {
      readonly type: 'compacted';
      readonly upTo: Revision;
      readonly shrunk: boolean;
      readonly failure?: string;
    }
  | { readonly type: 'taskDone'; readonly id: number; readonly report: Reports[TaskName] }
  | {
      readonly type: 'taskFailed';
      readonly id: number;
      readonly code: StorageErrorCode;
      readonly message: string;
    }
  /** Why there is no room for writes; undefined: there is room again. */
  | { readonly type: 'room'; readonly problem: string | undefined }
  /** The database was closed after an I/O error and opened again, and this is the revision found in it. */
  | { readonly type: 'recovered'; readonly revision: Revision }
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly message: string }
  | { readonly type: 'closed' };

/** Answers to the oldest unanswered writes, in the order in which they were sent. */
export interface GroupResult {
  readonly type: 'group';
  /** Of `writeResult`, one for each write. */
  readonly results: readonly number[];
  /** ok: the new revision; else 0. */
  readonly revisions: readonly Revision[];
  /** ok: the new state's createRevision. */
  readonly createRevisions: readonly Revision[];
  /** ok: the previous state where it was wanted; conflict: the present one. */
  readonly states: PackedStates;
  /** The store's revision after this group. */
  readonly revision: Revision;
  /** Why writes failed, where some did. */
  readonly failure: { readonly code: FailureCode; readonly message: string } | undefined;
}
