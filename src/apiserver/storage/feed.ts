import { sizeOfChange } from './change-size.ts';
import type { ChangeBatch, Revision, StoreChange } from './types.ts';
import { StorageError } from './types.ts';

/** A piece of history: the changes found up to and including `through`. */
export type Replay = { readonly changes: readonly StoreChange[]; readonly through: Revision } | 'compacted';

/** Reads changes after `after`, up to `upTo`, of keys with `prefix`; a bounded piece at a time. */
export type ReadHistory = (prefix: string, after: Revision, upTo: Revision) => Promise<Replay>;

/** Of a follower's queue; beyond them it reads history. */
const queueBounds = { count: 1_024, bytes: 4 * 1024 * 1024 };

/** Changes in one batch. */
const maxBatch = 512;

/**
 * Passes durable changes to followers. Each has a bounded queue of changes that it has not taken yet; one that is behind
 * its queue reads history until it has caught up. So a slow follower needs little memory and loses nothing while history
 * lasts. Recent events are kept by the cache in front, not here.
 */
export class ChangeFeed {
  readonly #readHistory: ReadHistory;
  readonly #followers = new Set<Follower>();
  #revision: Revision;
  #ended: { readonly error: Error | undefined } | undefined;

  /** `revision` is the newest durable one; history before it comes from `readHistory`. */
  constructor(revision: Revision, readHistory: ReadHistory) {
    this.#revision = revision;
    this.#readHistory = readHistory;
  }

  get revision(): Revision {
    return this.#revision;
  }

  /** Adds changes that became durable, in order. `revision` may be ahead of the last change. */
  append(changes: readonly StoreChange[], revision: Revision): void {
    this.#revision = revision;
    for (const follower of this.#followers) follower.append(changes, revision);
  }

  /** Everything up to `revision` is durable, and the changes up to it are only in history. */
  jumpTo(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    for (const follower of this.#followers) follower.skipTo(revision);
  }

  /** History before `upTo` is gone: followers behind it get `compacted`. */
  forget(upTo: Revision): void {
    for (const follower of this.#followers) follower.skipTo(Math.min(upTo, this.#revision));
  }

  /** Ends all followers after they have taken their queued changes; with `error` they throw it. May be called twice. */
  end(error?: Error): void {
    this.#ended ??= { error };
    for (const follower of this.#followers) follower.wake();
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted', void> {
    using follower = new Follower(this.#followers, signal, { prefix, after, behind: this.#revision });
    while (!signal.aborted) {
      if (this.#ended?.error) throw this.#ended.error;
      if (follower.at >= this.#revision) {
        if (this.#ended) return;
        await follower.untilWoken();
        continue;
      }
      const found = follower.isBehind
        ? await this.#replay(prefix, follower.at)
        : follower.take(this.#revision);
      if (signal.aborted || found === 'closed') return;
      if (found === 'compacted') {
        yield found;
        return;
      }
      follower.at = found.through;
      if (found.changes.length > 0) yield found.changes;
      if (found.changes.at(-1)?.revision !== found.through) yield { progress: found.through };
    }
  }

  /** `closed`: the store closes, and does not wait for followers that are behind. */
  async #replay(prefix: string, at: Revision): Promise<Replay | 'closed'> {
    try {
      return await this.#readHistory(prefix, at, this.#revision);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'closed') return 'closed';
      throw error;
    }
  }
}

interface Start {
  readonly prefix: string;
  readonly after: Revision;
  /** Changes up to this revision have to be read from history. */
  readonly behind: Revision;
}

/** The position of one reader, with the queued changes after it. */
class Follower implements Disposable {
  /** The reader has been given everything up to here. */
  at: Revision;
  readonly #all: Set<Follower>;
  readonly #signal: AbortSignal;
  readonly #prefix: string;
  /** Every change after this one is queued. */
  #floor: Revision;
  #queue: StoreChange[] = [];
  #bytes = 0;
  #woken = Promise.withResolvers<void>();

  constructor(all: Set<Follower>, signal: AbortSignal, { prefix, after, behind }: Start) {
    this.#all = all;
    this.#signal = signal;
    this.#prefix = prefix;
    this.at = after;
    this.#floor = behind;
    all.add(this);
    signal.addEventListener('abort', this.wake);
  }

  get isBehind(): boolean {
    return this.at < this.#floor;
  }

  append(changes: readonly StoreChange[], revision: Revision): void {
    for (const change of changes) {
      if (!change.key.startsWith(this.#prefix)) continue;
      this.#queue.push(change);
      this.#bytes += sizeOfChange(change);
    }
    if (this.#queue.length > queueBounds.count || this.#bytes > queueBounds.bytes) this.skipTo(revision);
    this.wake();
  }

  /** Everything up to `revision` has to be read from history. */
  skipTo(revision: Revision): void {
    if (revision > this.#floor) this.#floor = revision;
    this.#dropUpTo(revision);
    this.wake();
  }

  /**
   * Takes the queued changes up to the store's `revision`: at most `maxBatch`, but always all of one revision. Another
   * program may have written several objects to etcd in one revision, and a reader that continues after that revision
   * would miss the rest.
   */
  take(revision: Revision): { readonly changes: readonly StoreChange[]; readonly through: Revision } {
    this.#dropUpTo(this.at);
    if (this.#queue.length <= maxBatch) {
      const changes = this.#queue;
      this.#queue = [];
      this.#bytes = 0;
      return { changes, through: revision };
    }
    const through = this.#queue[maxBatch - 1]?.revision ?? revision;
    const changes = this.#queue.filter((change) => change.revision <= through);
    this.#dropUpTo(through);
    return { changes, through };
  }

  readonly wake = (): void => this.#woken.resolve();

  /** Resolves at the next `wake`. The caller checks for new changes just before, without an await in between. */
  untilWoken(): Promise<void> {
    this.#woken = Promise.withResolvers<void>();
    return this.#woken.promise;
  }

  #dropUpTo(revision: Revision): void {
    const first = this.#queue[0];
    if (first === undefined || first.revision > revision) return;
    this.#queue = this.#queue.filter((change) => change.revision > revision);
    this.#bytes = this.#queue.reduce((sum, change) => sum + sizeOfChange(change), 0);
  }

  [Symbol.dispose](): void {
    this.#all.delete(this);
    this.#signal.removeEventListener('abort', this.wake);
  }
}
