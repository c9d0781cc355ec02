/**
 * A store with its objects, recent events and watchers in memory. Everything in memory comes from the store's changes
 * and therefore is durable. A change is applied in one synchronous step:
 *
 *     store.changes ──► objects ──► followers ──► lane (events) ──► callers that wait for that revision
 *
 * Its writer is answered only after that, so a client reads its own writes here. When the store cannot be read for a
 * while, callers wait and nothing is lost; when it is gone for good, so is the cache (`failed`).
 */

import type {
  Change,
  ChangeBatch,
  Listing,
  Outcome,
  Page,
  Revision,
  State,
  Store,
  StoreChange,
  Stored,
  Unreadable,
  Write,
} from '../types.ts';
import { isReadable } from '../types.ts';
import { failure } from '../write-checks.ts';
import { AppliedWaiters, LateWriters } from './applied-waiters.ts';
import { Followers } from './followers.ts';
import { keepTrying } from './keep-trying.ts';
import { computeChanges, loadAll } from './load.ts';
import type { Objects } from './objects.ts';
import type { PastBounds } from './past-lists.ts';
import { PastLists } from './past-lists.ts';
import type { CachedStore, EventEncoding, Sink, Watch, WatchStart } from './types.ts';
import { UnreadableLog } from './unreadable-log.ts';
import type { WatchesOptions } from './watches.ts';
import { Watches } from './watches.ts';

export interface CacheSettings extends Omit<WatchesOptions, 'source'> {
  readonly past: PastBounds;
}

export class MemoryCache implements CachedStore {
  readonly #store: Store;
  readonly #settings: CacheSettings;
  readonly #watches: Watches;
  readonly #past: PastLists;
  readonly #waiters = new AppliedWaiters();
  readonly #lateWriters: LateWriters;
  readonly #followers: Followers;
  readonly #unreadableLog: UnreadableLog;
  readonly #stop = new AbortController();
  /** Aborts when the cache closes or has failed: nothing is tried again. */
  readonly #halt = new AbortController();
  readonly #failed = new AbortController();
  #objects: Objects;
  #applied: Revision;
  #following: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(store: Store, settings: CacheSettings, objects: Objects, applied: Revision) {
    this.#store = store;
    this.#settings = settings;
    this.#objects = objects;
    this.#applied = applied;
    this.#past = new PastLists(settings.past, settings.clock);
    this.#lateWriters = new LateWriters(this.#waiters);
    this.#followers = new Followers((error, { key }) =>
      settings.log.error({ err: error, key }, 'a follower of the cache failed'),
    );
    this.#unreadableLog = new UnreadableLog(settings.log);
    for (const one of objects.unreadable('')) this.#unreadableLog.found(one);
    const source = {
      store,
      applied: () => this.#applied,
      list: (prefix: string) => this.#objects.list(prefix, '', 0, this.#applied).items,
      waitFor: (revision: Revision, signal: AbortSignal) => this.waitFor(revision, signal),
    };
    this.#watches = new Watches({ ...settings, source });
  }

  /** Reads the whole store and follows it from then on. Owns `store` once it has resolved. */
  static async load(store: Store, settings: CacheSettings): Promise<MemoryCache> {
    const { objects, revision } = await loadAll(store);
    const cache = new MemoryCache(store, settings, objects, revision);
    cache.#following = cache.#follow();
    if (store.failed.aborted) cache.#fail(store.failed.reason);
    else store.failed.addEventListener('abort', () => cache.#fail(store.failed.reason), { once: true });
    return cache;
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get shared(): boolean {
    return this.#store.shared ?? false;
  }

  get applied(): Revision {
    return this.#applied;
  }

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  lookup(key: string): State | undefined {
    return this.#objects.lookup(key);
  }

  unreadable(prefix: string): readonly Unreadable[] {
    return this.#objects.unreadable(prefix);
  }

  list(prefix: string, after: string, limit: number): Listing {
    return this.#listPresent(prefix, this.#applied, after, limit);
  }

  async commit(write: Write): Promise<Outcome> {
    if (this.failed.aborted) return failure('unavailable', errorOf(this.failed.reason));
    const now = this.#objects.lookup(write.key);
    if (now !== undefined && !isReadable(now)) {
      return { ok: false, code: 'conflict', now, revision: this.#applied };
    }
    const previous = write.previous ?? now;
    const key = previous?.key === write.key ? previous.key : write.key; // the same string for all states of a key
    const { expect, value } = write;
    const outcome = await this.#store.commit({ key, expect, value, previous });
    if ((outcome.ok || outcome.code === 'conflict') && outcome.revision > this.#applied) {
      await this.#lateWriters.wait(outcome.revision);
    }
    return outcome;
  }

  revision(): Promise<Revision> {
    return this.#store.revision();
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    if (revision <= (this.#store.doubtful ?? 0)) return 'compacted';
    const open = this.#closing === undefined;
    if (open && revision <= this.#applied && this.#objects.unchangedSince(prefix, revision)) {
      return this.#listPresent(prefix, revision, after, limit);
    }
    const past = open ? this.#past.list(prefix, revision, after, limit) : undefined;
    return past ?? (await this.#store.listAt(prefix, revision, after, limit));
  }

  changes(prefix: string, after: Revision, signal: AbortSignal): AsyncIterable<ChangeBatch | 'compacted'> {
    return this.#store.changes(prefix, after, signal);
  }

  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#store.foreignKeys(namespace, own);
  }

  compact(upTo: Revision): Promise<void> {
    this.#past.forget(Math.min(upTo, this.#applied));
    return this.#store.compact(upTo);
  }

  async waitFor(revision: Revision, signal: AbortSignal): Promise<'ready' | 'timeout'> {
    return revision <= this.#applied ? 'ready' : await this.#waiters.wait(revision, signal);
  }

  async confirm(since: Revision, signal: () => AbortSignal): Promise<'confirmed' | 'outdated' | 'timeout'> {
    const newest = this.#store.shared ? await this.#store.revision() : since;
    if (newest <= since) return 'confirmed';
    return (await this.waitFor(newest, signal())) === 'ready' ? 'outdated' : 'timeout';
  }

  async canReach(revision: Revision): Promise<boolean> {
    if (revision <= this.#applied || !this.#store.shared) return true;
    return revision <= (await this.#store.revision());
  }

  follow(prefix: string, apply: (change: Change) => void): Disposable {
    return this.#followers.add(prefix, apply);
  }

  watch(
    prefix: string,
    start: WatchStart,
    match: (object: Stored) => boolean,
    encoding: EventEncoding,
    sink: Sink,
  ): Watch {
    return this.#watches.open(prefix, start, match, encoding, sink);
  }

  endWatches(): void {
    this.#watches.stop('stop');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #listPresent(prefix: string, revision: Revision, after: string, limit: number): Listing {
    const list = this.#objects.list(prefix, after, limit, revision);
    if (list.remaining > 0) this.#past.want(prefix);
    return list;
  }

  /** Applies the store's changes until the cache closes or the store is gone. */
  async #follow(): Promise<void> {
    const { clock, log } = this.#settings;
    const work = async (progressed: () => void) => {
      if ((await this.#followOnce(progressed)) === 'ended') return false;
      await this.#loadAgain();
      return true;
    };
    await keepTrying(work, {
      clock,
      halt: this.#halt.signal,
      onFailure: (error, waitMs) =>
        log.error({ err: error, waitMs }, 'the cache cannot follow its store; it tries again'),
    });
    this.#waiters.close();
  }

  async #followOnce(progressed: () => void): Promise<'compacted' | 'ended'> {
    for await (const batch of this.#store.changes('', this.#applied, this.#stop.signal)) {
      if (batch === 'compacted') return batch;
      if ('progress' in batch) this.#applied = batch.progress;
      else for (const change of batch) this.#apply(change);
      this.#waiters.reached(this.#applied);
      progressed();
    }
    return 'ended';
  }

  #apply(change: StoreChange): void {
    const before = this.#applied;
    this.#past.before(change, this.#objects);
    const known = this.#objects.apply(change);
    this.#applied = change.revision;
    this.#unreadableLog.changed(change);
    if (known === undefined) return;
    this.#followers.apply(known);
    this.#watches.append(known, before);
  }

  /** History was forgotten before the cache read it: the missed changes are found by comparing with the whole store. */
  async #loadAgain(): Promise<void> {
    this.#settings.log.warn('the cache fell behind the history of its store and is read again');
    const { objects, revision } = await loadAll(this.#store);
    const missed = computeChanges(this.#objects, objects, revision);
    this.#objects = objects;
    this.#applied = revision;
    this.#unreadableLog.replace(objects.unreadable(''));
    this.#past.forget(revision);
    this.#watches.expire();
    for (const change of missed) this.#followers.apply(change);
    this.#waiters.reached(revision);
  }

  /** The store is gone for good. Writes that are not applied yet are answered nevertheless: they are durable. */
  #fail(error: unknown): void {
    if (this.#closing !== undefined || this.failed.aborted) return;
    this.#settings.log.error({ err: error }, 'the store of the cache is gone');
    this.#failed.abort(error);
    this.#halt.abort();
    this.#stop.abort();
    this.#waiters.close();
    this.#watches.stop('failed');
  }

  async #close(): Promise<void> {
    this.endWatches();
    this.#halt.abort();
    await this.#store.close();
    await this.#following;
    this.#stop.abort();
    this.#watches[Symbol.dispose]();
  }
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
