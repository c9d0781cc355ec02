/**
 * The store on a cluster of etcd v3. A write is one transaction of one object. The written change comes back through a
 * watch of everything, as the writes of other servers do, and the writer is answered only after the change has been
 * passed to all followers:
 *
 *     commit ──► transaction ──► reply ─────────┐
 *                    etcd ──► watch ──► feed ──► answers, in the order of revisions
 *
 * When a connection is lost, the follower resumes where it was, so no change is lost or passed on twice.
 */
import type { Clock, Logger } from '../../../base/index.ts';
import { KeyedMutex, Semaphore, silentLogger, systemClock } from '../../../base/index.ts';
import { RenumberedStore } from '../renumbered-store.ts';
import type { ChangeBatch, Outcome, Page, Revision, Store, Write } from '../types.ts';
import { StorageError } from '../types.ts';
import { bytesToKeep, checkWrite, failure } from '../write-checks.ts';
import { Compactor, compactEtcd } from './compactor.ts';
import { Folders, untilFollowed } from './folders.ts';
import { Follower } from './follower.ts';
import { EtcdHistory } from './history.ts';
import { checkIdentity } from './identity.ts';
import { KeyMap } from './key-map.ts';
import { isOutcome, toFailedOutcome, toRefusedOutcome, toStorageError } from './outcomes.ts';
import { PublishedChanges } from './published-changes.ts';
import { raiseRevision } from './raise-revision.ts';
import type { Head } from './reads.ts';
import { Reads } from './reads.ts';
import { SharedRevision } from './shared-revision.ts';
import { Values } from './values.ts';
import { EtcdClient } from './wire/client.ts';
import { parseEndpoints } from './wire/endpoints.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdStoreOptions, EtcdTimes } from './wire/options.ts';
import { defaultCompactionIntervalMs, defaultEtcdPrefix, defaultTimes } from './wire/options.ts';
import { createTransaction, findKnownCreation, outcomeOf, transact } from './write.ts';
import { WriteAnswers } from './write-answers.ts';

/** The parts of the store that exist before it follows changes. */
interface Parts {
  readonly client: EtcdClient;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly reads: Reads;
  readonly folders: Folders;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: EtcdTimes;
}

/** How long a durable write is left unanswered when its change cannot be passed to the followers. */
const patienceMs = 5_000;

/** Further ones wait here: etcd would not do them sooner, and the time limit of a call starts when it is sent. */
const transactionsAtOnce = 512;

export class EtcdStore implements Store {
  readonly shared = true;
  readonly #parts: Parts;
  readonly #answers: WriteAnswers;
  readonly #published: PublishedChanges;
  readonly #follower: Follower;
  readonly #compactor: Compactor | undefined;
  readonly #revision: SharedRevision;
  readonly #keys = new KeyedMutex();
  readonly #transactions = new Semaphore(() => transactionsAtOnce);
  readonly #stop = new AbortController();
  readonly #failure = new AbortController();
  #closing: Promise<void> | undefined;

  private constructor(parts: Parts, head: Head, intervalMs: number) {
    this.#parts = parts;
    const { client, reads, clock, log } = parts;
    const history = new EtcdHistory(parts);
    const readHistory = async (prefix: string, after: Revision, upTo: Revision) => {
      this.#mustBeOpen();
      return await this.#withStorageErrors(history.read(prefix, after, upTo, this.#stop.signal));
    };
    this.#answers = new WriteAnswers(head.revision);
    // one more than was issued: a client that continues from the last one has read a state that is lost
    const replaced = (now: Revision, before: Revision) => void this.#raise(now, before + 1);
    this.#published = new PublishedChanges(head.revision, readHistory, this.#answers, log, replaced);
    const lost = () => this.#lose();
    this.#follower = new Follower({ ...parts, head, receiver: this.#published, lost });
    this.#revision = new SharedRevision(async () => {
      const { revision, isRecorded } = await reads.head();
      if (!isRecorded) throw this.#lose();
      return revision;
    });
    const forgotten = (upTo: Revision) => this.#published.forget(upTo);
    const lastChange = () => this.#published.lastChange;
    if (intervalMs > 0) {
      this.#compactor = new Compactor({ client, intervalMs, clock, log, lastChange, forgotten });
    }
    void this.#answerLateWriters();
  }

  /** Rejects with a StorageError that names the servers. */
  static async open(options: EtcdStoreOptions): Promise<Store> {
    const endpoints = parseEndpoints(options.servers);
    const { clock = systemClock, log = silentLogger(), tls = {} } = options;
    const times = { ...defaultTimes, ...options.times };
    const client = new EtcdClient({ endpoints, tls, times, clock, log });
    try {
      const keys = new KeyMap(options.prefix ?? defaultEtcdPrefix);
      const values = new Values(keys, options.readValue);
      const reads = new Reads(client, keys, values);
      const numbering = await checkIdentity(client, keys, options.identity);
      const folders = new Folders(client, keys);
      const parts = { client, keys, values, reads, folders, clock, log, times };
      const intervalMs = options.compactionIntervalMs ?? defaultCompactionIntervalMs;
      const store = new EtcdStore(parts, await reads.head(), intervalMs);
      return numbering === undefined ? store : new RenumberedStore(store, numbering);
    } catch (error) {
      client[Symbol.dispose]();
      throw toStorageError(error);
    }
  }

  /** Aborts only when this store is no longer in etcd: etcd itself may always come back. */
  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  get doubtful(): Revision {
    return this.#published.doubtful;
  }

  async commit(write: Write): Promise<Outcome> {
    const refusal = checkWrite(write);
    if (refusal !== undefined) return refusal;
    if (this.#closing !== undefined) return failure('unavailable', this.#closedError());
    if (this.failed.aborted) return failure('unavailable', this.failed.reason);
    const { key, expect, previous } = write;
    const value = write.value === null ? null : bytesToKeep(write.value);
    const accepted = { key, expect, value, previous };
    return await this.#keys.run(key, () => this.#transactions.run(() => this.#commit(accepted)));
  }

  async revision(): Promise<Revision> {
    this.#mustBeOpen();
    const revision = await this.#withStorageErrors(this.#revision.read());
    this.#want(revision); // the caller waits for it next
    return revision;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    this.#mustBeOpen();
    return await this.#withStorageErrors(this.#parts.reads.list(prefix, revision, after, limit));
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    this.#mustBeOpen();
    yield* this.#published.changes(prefix, after, signal);
  }

  async foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { folders, keys } = this.#parts;
    const revision = await this.revision();
    // then the folders of all events up to now are known
    await untilFollowed(this.#published, revision, this.#parts, this.#stop.signal);
    this.#mustBeOpen();
    const places = own.map((prefix) => keys.restOf(keys.toEtcd(prefix)) ?? '');
    return await this.#withStorageErrors(folders.count(namespace, new Set(places)));
  }

  async compact(upTo: Revision): Promise<void> {
    this.#mustBeOpen();
    const { client, reads } = this.#parts;
    const newest = (await this.#withStorageErrors(reads.head())).revision;
    const target = Math.min(upTo, newest);
    if (target < 1) return;
    await this.#withStorageErrors(compactEtcd(client, target));
    this.#published.forget(target);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #commit(write: Write): Promise<Outcome> {
    const { client, keys, values, clock } = this.#parts;
    const pending = this.#answers.begin(write.key);
    try {
      const request = createTransaction(
        write,
        keys.toEtcd(write.key),
        keys.readOnlyKey,
        findKnownCreation(write) !== undefined,
      );
      const response = await client.call(transact, request, { repeatable: false });
      const outcome = outcomeOf(write, response, values);
      const { promise, resolve } = Promise.withResolvers<void>();
      // in a microtask, when this write waits as all others do: so they continue in the order in which they are answered
      queueMicrotask(() => this.#answers.finish(pending, outcome.revision, clock.monotonicMs(), resolve));
      this.#want(outcome.revision);
      await promise;
      return isOutcome(outcome) ? outcome : toRefusedOutcome(outcome);
    } catch (error) {
      this.#answers.drop(pending);
      return toFailedOutcome(write.key, await this.#checkFull(write, error));
    }
  }

  /** etcd also reports "full" for the write that has filled it, although it has done that write. */
  async #checkFull({ key, expect }: Write, error: unknown): Promise<unknown> {
    if (!(error instanceof EtcdError) || error.reason !== 'full') return error;
    const now = await this.#parts.reads.revisionOfKey(key).catch(() => undefined);
    if (now === expect) return error;
    return new EtcdError('unknown', `${error.message}, and it may have been written`, { cause: error });
  }

  /** etcd was emptied or replaced while it was in use: writes would go into another store. */
  #lose(): StorageError {
    const { client, keys } = this.#parts;
    const error = new StorageError(
      'corrupt',
      `etcd at ${client.name} holds no store any more (${Buffer.from(keys.identityKey).toString()} is missing): it was emptied or replaced while this server ran; restore it, or start this server anew on what is there`,
    );
    if (!this.failed.aborted) this.#failure.abort(error);
    return error;
  }

  /** Makes sure that no revision is issued a second time after etcd was put back. */
  async #raise(from: Revision, beyond: Revision): Promise<void> {
    const { client, keys, clock, log } = this.#parts;
    const { signal } = this.#stop;
    const key = keys.raiseKey;
    while (!signal.aborted && from <= beyond) {
      try {
        if (await raiseRevision({ client, key, from, beyond, log, signal })) this.#published.forget(beyond);
        else this.#published.trust();
        return;
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error }, 'the revision of etcd cannot be raised yet; it is tried again');
        await clock.sleep(1_000, signal);
      }
    }
  }

  #want(revision: Revision): void {
    if (revision > this.#published.revision) this.#follower.want(revision);
  }

  /** Answers writers that have waited too long, because the watch has failed for some time. */
  async #answerLateWriters(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#stop.signal.aborted) {
      await clock.sleep(1_000, this.#stop.signal);
      this.#answers.giveUp(clock.monotonicMs() - patienceMs);
    }
  }

  async #close(): Promise<void> {
    const { clock, times, client } = this.#parts;
    const enough = new AbortController();
    await Promise.race([this.#keys.settled(), clock.sleep(times.closeMs, enough.signal)]);
    enough.abort();
    this.#published.end();
    this.#stop.abort();
    await Promise.all([this.#follower, this.#compactor].map((part) => part?.[Symbol.asyncDispose]()));
    client[Symbol.dispose]();
    this.#answers.giveUp(Number.POSITIVE_INFINITY);
  }

  /** Converts the errors of a call of etcd into the store's. */
  async #withStorageErrors<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (this.#closing !== undefined) throw this.#closedError();
      throw toStorageError(error);
    }
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw this.#closedError();
  }

  #closedError(): StorageError {
    return new StorageError('closed', `the store in etcd at ${this.#parts.client.name} is closed`);
  }
}
