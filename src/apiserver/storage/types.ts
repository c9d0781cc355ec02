/**
 * The contract of storage: ordered keys, one global growing revision, every past state readable within a
 * window of history, optimistic concurrency. It knows neither HTTP nor kinds: a value is bytes.
 *
 * What every backend keeps, and the cache in front of it:
 * - Durable or nothing: a write is answered when it is on disk, and no reader gets it before.
 * - A key has at most one commit in flight; the next writer of it waits, then is compared with durable state.
 * - Exactly one object per revision. Revisions never go back and are never reused; gaps are legal.
 * - The code of a failed commit is reliable (see FailureCode).
 */

/** A safe integer; text only at the edge of the API. The first write of a store has revision 1 or more. */
export type Revision = number;

/** A key with its value at one revision. Immutable: neither the owner nor a reader changes the bytes. */
export interface Stored {
  readonly key: string;
  /** The write that made this value; for the last state of a deleted object, the deletion. */
  readonly revision: Revision;
  /** The write that created the key (again, after a deletion). */
  readonly createRevision: Revision;
  /** The object's JSON without resourceVersion. */
  readonly value: Uint8Array;
}

/**
 * An object that is there, but whose value this program cannot read: it is encrypted, damaged, or in another encoding. That
 * is neither an absence nor a deletion: nothing may be deleted or created because of it. It can become readable again at
 * any time, by a write of the program that wrote it.
 */
export interface Unreadable {
  readonly key: string;
  /** The write that made this value. */
  readonly revision: Revision;
  /** The write that created the key: the same as that of its last readable state unless it was deleted in between. */
  readonly createRevision: Revision;
  /** Why, without anything of the value itself: `it is encrypted (k8s:enc:aescbc)`. */
  readonly why: string;
}

/** What a store has under a key. */
export type State = Stored | Unreadable;

export function isReadable(state: State): state is Stored {
  return 'value' in state;
}

export interface Write {
  /** Ordered by its UTF-8 bytes. Well-formed text, 1 to 4,096 bytes; else the outcome is `invalid`. */
  readonly key: string;
  /** The revision the key must have; 0: it must be absent. */
  readonly expect: Revision;
  /** The new value, not changed by the caller from here on; null: delete. At most `maxValueBytes`. */
  readonly value: Uint8Array | null;
  /**
   * What the caller read, when that is the state with revision `expect`: spares the store reading it again.
   * Ignored when it is of another key or revision.
   */
  readonly previous?: Stored | undefined;
}

/** The largest value: 1.5 MiB, as with etcd. */
export const maxValueBytes = 1_572_864;
/** The longest key, in UTF-8 bytes. */
export const maxKeyBytes = 4_096;

/**
 * Why a commit failed, other than by a conflict:
 * - `full`: no room on the disk (or in the configured bound). Not written. Try again once there is room.
 * - `unavailable`: not written: the store is closed, broken or overloaded. May be tried again.
 * - `unknown`: may or may not have been written; the store reads itself again from disk.
 * - `tooLarge`: not written: the value is longer than `maxValueBytes`.
 * - `invalid`: not written: the key is empty, too long or not well-formed text.
 */
export const failureCodes = ['full', 'unavailable', 'unknown', 'tooLarge', 'invalid'] as const;
export type FailureCode = (typeof failureCodes)[number];

export type Outcome =
  /** Durable. `now` is the new state, null after a deletion. */
  | { readonly ok: true; readonly revision: Revision; readonly now: Stored | null }
  /**
   * The key is not at `expect`. `now` is its durable state; `revision` the store's when it was compared. Nobody may expect
   * the revision of a state that cannot be read, since it would be overwritten; the cache refuses such a write as a conflict.
   */
  | {
      readonly ok: false;
      readonly code: 'conflict';
      readonly now: State | null;
      readonly revision: Revision;
    }
  | { readonly ok: false; readonly code: FailureCode; readonly cause: Error };

/** One revision: `previous` is null for a creation, `next` for a deletion. */
export interface StoreChange {
  readonly key: string;
  readonly revision: Revision;
  readonly previous: State | null;
  readonly next: State | null;
}

/** A change between states that can be read. */
export interface Change extends StoreChange {
  readonly previous: Stored | null;
  readonly next: Stored | null;
}

/** A list at one revision. */
export interface Listing {
  readonly revision: Revision;
  readonly items: readonly Stored[];
  /** How many follow after the last item; 0: this is the end. Those that cannot be read may be counted. */
  readonly remaining: number;
  /**
   * Those of the keys up to the last item (at the end: of all further keys) that cannot be read, in order. Without it there
   * are none. A list with such keys is not complete, and a caller that concludes an absence from it must look here.
   */
  readonly unreadable?: readonly Unreadable[] | undefined;
}

/** `compacted`: the history no longer reaches back to that revision. `future`: it is not reached yet. */
export type Page = Listing | 'compacted' | 'future';

/** Several changes in the order of their revisions, or the fact that all changes up to a revision have been passed on. */
export type ChangeBatch = readonly StoreChange[] | { readonly progress: Revision };

export interface Store extends AsyncDisposable {
  /**
   * Aborts when the store is gone for good without having been closed (its writer died); its reason is the
   * StorageError. From then on nothing is written, and followers of changes throw. It must be opened again.
   */
  readonly failed: AbortSignal;
  /**
   * Whether other processes write to it too: then memory may be a moment behind what is durable (see
   * CachedStore.confirm). Default false.
   */
  readonly shared?: boolean;
  /**
   * Revisions up to this one may be of a state that is lost, because the store was put back to an earlier state: no
   * client can continue from them, which the cache ensures. Default 0.
   */
  readonly doubtful?: Revision;
  /** Compares and writes. Never rejects: every failure is an outcome. */
  commit(write: Write): Promise<Outcome>;
  /** The newest durable revision; linearizable. Rejects with a StorageError when the store cannot answer. */
  revision(): Promise<Revision>;
  /**
   * The keys that start with `prefix` and are greater than `after` ('' for the start), as they were at
   * `revision`, at most `limit` of them (0: all). Rejects with a StorageError when the store cannot answer.
   */
  listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page>;
  /**
   * Every change after `after` of keys that start with `prefix`, in order, none twice and none left out;
   * first from history, then as they happen, until `signal` aborts or the store closes. When it closes, readers that are
   * not behind still get all writes accepted before. `compacted` is the last element when history does not reach back far
   * enough (the reader may also have fallen behind). When later changes do not match, `progress` says how far the reader
   * is. Throws a StorageError when the store is closed already, or cannot be read.
   */
  changes(prefix: string, after: Revision, signal: AbortSignal): AsyncIterable<ChangeBatch | 'compacted'>;
  /**
   * What other programs keep in a namespace beside the kinds that are served here: how many keys, by folder as it is named
   * in the store (`services/specs`). `own`: the prefixes of the kinds that are served (`/registry/leases/`). It includes
   * everything that was written before the call. Always empty where no other program writes. Rejects with a StorageError
   * when the store cannot answer.
   */
  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Forgets the history before `upTo`: the state at `upTo` itself stays readable. Never past the newest
   * revision. History older than the window is forgotten without this call.
   */
  compact(upTo: Revision): Promise<void>;
  /** Finishes what was accepted, then frees everything. May be called twice. */
  close(): Promise<void>;
}

/**
 * Reads a value that another program may have written: returns the object's JSON (the same bytes where they are that), why
 * it cannot be read, or undefined when it is of no kind that is served here and no JSON either. Must not throw.
 */
export type ReadValue = (key: string, value: Uint8Array) => Uint8Array | UnreadableValue | undefined;

export interface UnreadableValue {
  /** As Unreadable.why. */
  readonly why: string;
}

/**
 * Why a store cannot be opened or read:
 * - `locked`: another process uses it.
 * - `corrupt`: the file is damaged or is no store.
 * - `newerFormat`: written by a newer version of this program.
 * - `wrongIdentity`: made with another group suffix.
 * - `occupied`: another one is in its place and is not to be replaced.
 * - `moved`: its objects are being moved, or were moved, to another store; or they are not all here yet.
 * - `unusable`: the folder or file cannot be used (permissions, no room, I/O error).
 * - `unavailable`: open, but cannot answer now.
 * - `closed`: close() was called.
 */
export const storageErrorCodes = [
  'locked',
  'corrupt',
  'newerFormat',
  'wrongIdentity',
  'occupied',
  'moved',
  'unusable',
  'unavailable',
  'closed',
] as const;
export type StorageErrorCode = (typeof storageErrorCodes)[number];

/** Thrown by storage. `code` is for programs; the message names the file and says what to do. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a store belongs to; recorded when it is created and compared whenever it is opened. */
export interface StoreIdentity {
  readonly groupSuffix: string;
}
