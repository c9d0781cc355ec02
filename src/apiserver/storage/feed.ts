import { RecentChanges, sizeOfChange } from './recent-changes.ts';
import type { Change, ChangeBatch, Revision } from './types.ts';
import { StorageError } from './types.ts';

/** A piece of history: the changes found up to and including `through`. */
export type Replay = { readonly changes: readonly Change[]; readonly through: Revision } | 'compacted';

/** Reads changes after `after`, up to `upTo`, of keys with `prefix`; a bounded piece at a time. */
export type ReadHistory = (prefix: string, after: Revision, upTo: Revision) => Promise<Replay>;

const recentBounds = { count: 4_096, bytes: 4 * 1024 * 1024 };

/** The largest batch that is handed out at once. */
const batchLimit = 512;

/**
 * Tells followers what was made durable. Nothing is queued per follower: each knows the revision it has
 * come to and takes what follows from the recent changes in memory, or from history when it is behind
 * those. A slow follower therefore costs nothing and loses nothing while history lasts.
 */
export class ChangeFeed {
  readonly #recent: RecentChanges<Change>;
  readonly #readHistory: ReadHistory;
  readonly #followers = new Set<Follower>();
  #revision: Revision;
  #ended: { readonly error: Error | undefined } | undefined;

  /** `revision` is the newest durable one; history before it comes from `readHistory`. */
  constructor(revision: Revision, readHistory: ReadHistory) {
    this.#revision = revision;
    this.#readHistory = readHistory;
    this.#recent = new RecentChanges(revision, recentBounds, sizeOfChange);
  }

  get revision(): Revision {
    return this.#revision;
  }

  /** Adds what became durable, in order. `revision` may be ahead of the last change. */
  append(changes: readonly Change[], revision: Revision): void {
    for (const change of changes) this.#recent.append(change);
    this.#revision = revision;
    this.#wakeAll();
  }

  /** Everything up to `revision` is durable, and what is new of it is only in history. */
  jumpTo(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#recent.forget(revision);
    this.#wakeAll();
  }

  /** History before `upTo` is gone: followers behind it get `compacted`. */
  forget(upTo: Revision): void {
    this.#recent.forget(Math.min(upTo, this.#revision));
  }

  /** Ends all followers, after what they can still take; with `error` they throw it. May be called twice. */
  end(error?: Error): void {
    this.#ended ??= { error };
    this.#wakeAll();
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted', void> {
    using follower = new Follower(this.#followers, signal);
    let at = after;
    while (!signal.aborted) {
      if (this.#ended?.error) throw this.#ended.error;
      if (at >= this.#revision) {
        if (this.#ended) return;
        await follower.waitForNews();
        continue;
      }
      const found = await this.#next(prefix, at);
      if (signal.aborted || found === 'closed') return;
      if (found === 'compacted') {
        yield found;
        return;
      }
      at = found.through;
      if (found.changes.length > 0) yield found.changes;
      if (found.changes.at(-1)?.revision !== at) yield { progress: at };
    }
  }

  #next(prefix: string, at: Revision): Replay | Promise<Replay | 'closed'> {
    if (at < this.#recent.floor) return this.#replay(prefix, at);
    const taken = this.#recent.after(at, batchLimit);
    const last = taken.at(-1);
    const through = last !== undefined && taken.length >= batchLimit ? last.revision : this.#revision;
    return { changes: prefix === '' ? taken : taken.filter((c) => c.key.startsWith(prefix)), through };
  }

  /** `closed`: the store closes, and who is behind is not waited for. */
  async #replay(prefix: string, at: Revision): Promise<Replay | 'closed'> {
    try {
      return await this.#readHistory(prefix, at, this.#revision);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'closed') return 'closed';
      throw error;
    }
  }

  #wakeAll(): void {
    for (const follower of this.#followers) follower.wake();
  }
}

/** One reader's place among those to be woken. */
class Follower implements Disposable {
  readonly #all: Set<Follower>;
  readonly #signal: AbortSignal;
  #woken = Promise.withResolvers<void>();

  constructor(all: Set<Follower>, signal: AbortSignal) {
    this.#all = all;
    this.#signal = signal;
    all.add(this);
    signal.addEventListener('abort', this.wake);
  }

  readonly wake = (): void => this.#woken.resolve();

  /** Resolves at the next news; the caller looks for news before, without an await between. */
  waitForNews(): Promise<void> {
    this.#woken = Promise.withResolvers<void>();
    return this.#woken.promise;
  }

  [Symbol.dispose](): void {
    this.#all.delete(this);
    this.#signal.removeEventListener('abort', this.wake);
  }
}
