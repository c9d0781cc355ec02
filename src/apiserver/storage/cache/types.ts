import type { Change, Listing, Revision, State, Store, Stored, Unreadable } from '../types.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * Turns events into the bytes that are sent. Watchers that pass the same EventEncoding share the bytes of an event, so
 * use the same one for all watchers of one kind and media type.
 */
export interface EventEncoding {
  /** `object.revision` becomes the resourceVersion; for DELETED it is that of the deletion, with the last state. */
  event(type: WatchEventType, object: Stored): Uint8Array;
  /** The ADDED events of all of them, in as few pieces as the encoding likes; absent: one `event` for each. */
  added?(objects: readonly Stored[]): readonly Uint8Array[];
  /** `initialEventsEnd`: this one ends the synthetic events of a `state` start. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
}

/**
 * Where a watch starts. `exact`: only what changed after `revision`. `state`: an ADDED for every object as
 * of a revision not older than `minRevision` (0: whatever the cache has), then, if `bookmark`, a bookmark
 * that ends them, then changes.
 */
export type WatchStart =
  | { readonly at: 'exact'; readonly revision: Revision }
  | { readonly at: 'state'; readonly minRevision: Revision; readonly bookmark: boolean };

/**
 * Why a watch ended. `slow`: the reader fell behind what is kept for it. `expired`: history does not reach
 * back to the start (or no longer to where a replay was). `stop`: the cache closes. `unavailable`: the store cannot be
 * read now. `failed`: the store or the encoding failed; the log has the cause.
 */
export type WatchEnd = 'slow' | 'expired' | 'stop' | 'unavailable' | 'failed';

/** The reader of a watch. Its methods are called one at a time and must not throw. */
export interface Sink {
  /** Once, when the start was found and before any push: from now on `expired` is rare. */
  start(): void;
  /** Frames to send, in order. Returns false when the sink is full until `Watch.resume()`; these are taken nevertheless. */
  push(frames: readonly Uint8Array[]): boolean;
  /** Last call; not made after the watch was disposed. Always later than the call of `watch` itself. */
  end(why: WatchEnd): void;
}

/** A running watch. Disposing ends it at once, without `end`; may be done twice. */
export interface Watch extends Disposable {
  /** To be called when the sink can take more after `push` returned false. */
  resume(): void;
  /**
   * Pushes a bookmark with the newest revision up to which everything was pushed. Does nothing while the
   * sink is full or the start is not over.
   */
  bookmark(): void;
}

/**
 * The objects in memory, the recent changes and the watchers. Returns durable state only, and never waits for the disk
 * unless stated.
 */
export interface Cache {
  /** The revision up to which everything is applied. */
  readonly applied: Revision;
  /**
   * The last state that could be read. Undefined does not mean that the object is absent: ask `lookup` before anything is
   * deleted, created or refused because of an absence.
   */
  get(key: string): Stored | undefined;
  /**
   * What the store has under a key: an object, an object that cannot be read, or undefined: nothing. Only the last one is
   * an absence; that of `applied`.
   */
  lookup(key: string): State | undefined;
  /** All objects that cannot be read whose keys start with `prefix`, in order. */
  unreadable(prefix: string): readonly Unreadable[];
  /** As Store.listAt, at `applied`. An object that cannot be read any more is in it with its last readable state, too. */
  list(prefix: string, after: string, limit: number): Listing;
  /** `ready` once `revision` is applied; `timeout` when `signal` aborts or the cache closes before. */
  waitFor(revision: Revision, signal: AbortSignal): Promise<'ready' | 'timeout'>;
  /**
   * Follows the keys that start with `prefix`. An object that starts to `match` is ADDED, one that stops
   * is DELETED.
   */
  watch(
    prefix: string,
    start: WatchStart,
    match: (object: Stored) => boolean,
    encoding: EventEncoding,
    sink: Sink,
  ): Watch;
  /**
   * Calls `apply` for each change of a key that starts with `prefix`: once, in order, in the step in which the cache takes
   * the change, before its writer is answered. It must not throw. Changes that history has lost are replaced by the
   * difference between the states. An object that becomes unreadable stays as it was, for followers and watches alike, until
   * it can be read again or its key is deleted.
   */
  follow(prefix: string, apply: (change: Change) => void): Disposable;
}

/**
 * A store with its cache in front. `commit` resolves after the cache, its followers and its watchers have the change; the
 * state of a conflict is in the cache too by then. Closing ends all watches (`stop`), then the store.
 */
export interface CachedStore extends Cache, Store {
  /**
   * Aborts when the cache can never follow its store again, mostly because the store has failed. Its reason is the error.
   * From then on commits are `unavailable`, watches have ended with `failed`, and reads return what was last known. After
   * a temporary failure it does not abort: the cache tries again until it has caught up, and then commits are answered.
   */
  readonly failed: AbortSignal;
  /**
   * `confirmed`: the state in memory at revision `since` includes all that was durable at this call. Otherwise waits until
   * memory has reached that: `outdated`, or `timeout` when `signal`, which is created only then, aborts before. Where only
   * this process writes to the store, every answered write is in memory, and the result is `confirmed` without asking the
   * store. Rejects with a StorageError when the store cannot answer.
   */
  confirm(since: Revision, signal: () => AbortSignal): Promise<'confirmed' | 'outdated' | 'timeout'>;
  /**
   * Whether a revision can be one of this store. In a store to which other servers write too, one that is greater than the
   * newest cannot: it is of a state that is lost, such as before a snapshot was restored, and a watch from it would miss
   * the changes up to it.
   * Rejects with a StorageError when the store cannot answer.
   */
  canReach(revision: Revision): Promise<boolean>;
  /** Ends all watches with `stop` and refuses new ones; reads and writes go on. May be called twice. */
  endWatches(): void;
}
