/**
 * The store on a cluster of etcd v3. A write is one transaction of one object; what was written comes back by a watch
 * of everything, as the writes of other servers do, and only when it has been told to all who follow is its writer
 * answered:
 *
 *     commit ──► transaction ──► reply ─────────┐
 *                    etcd ──► watch ──► feed ──► answers, in the order of revisions
 *
 * Connections come and go: the follower resumes where it was, so nothing is lost or told twice.
 */
import type { Clock, Logger } from '../../../base/index.ts';
import { KeyedMutex, Semaphore, silentLogger, systemClock } from '../../../base/index.ts';
import { bytesToKeep, failure, refuse } from '../refuse.ts';
import { RenumberedStore } from '../renumbered-store.ts';
import type { ChangeBatch, Outcome, Page, Revision, Store, Write } from '../types.ts';
import { StorageError } from '../types.ts';
import { Answers } from './answers.ts';
import { Compactor, compactEtcd } from './compactor.ts';
import { Follower } from './follower.ts';
import { EtcdHistory } from './history.ts';
import { checkIdentity } from './identity.ts';
import { KeyMap } from './key-map.ts';
import { failedOutcome, isOutcome, refusedOutcome, storageError, warnOfForeign } from './outcomes.ts';
import { raise } from './raise.ts';
import type { Head } from './reads.ts';
import { Reads } from './reads.ts';
import { SharedRevision } from './shared-revision.ts';
import { ToldChanges } from './told-changes.ts';
import { Values } from './values.ts';
import { EtcdClient } from './wire/client.ts';
import { parseEndpoints } from './wire/endpoints.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdStoreOptions, EtcdTimes } from './wire/options.ts';
import { defaultCompactionIntervalMs, defaultEtcdPrefix, defaultTimes } from './wire/options.ts';
import { knownCreation, outcomeOf, transact, transactionOf } from './write.ts';

/** What the store is made of before it follows. */
interface Parts {
  readonly client: EtcdClient;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly reads: Reads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: EtcdTimes;
}

/** How long what is durable is kept back from its writer when it cannot be told to those who follow. */
const patienceMs = 5_000;

/** More wait here: etcd does no more by having them sooner, and the time of a call begins when it is sent. */
const transactionsAtOnce = 512;

export class EtcdStore implements Store {
  readonly shared = true;
  readonly #parts: Parts;
  readonly #answers: Answers;
  readonly #told: ToldChanges;
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
      return await this.#asked(history.read(prefix, after, upTo, this.#stop.signal));
    };
    this.#answers = new Answers(head.revision);
    // one more than was given: who comes from the last of them has seen what is no more
    const replaced = (now: Revision, before: Revision) => void this.#raise(now, before + 1);
    this.#told = new ToldChanges(head.revision, readHistory, this.#answers, log, replaced);
    const lost = () => this.#lose();
    this.#follower = new Follower({ ...parts, head, follows: this.#told, lost });
    this.#revision = new SharedRevision(async () => {
      const { revision, isRecorded } = await reads.head();
      if (!isRecorded) throw this.#lose();
      return revision;
    });
    const forgotten = (upTo: Revision) => this.#told.forget(upTo);
    const lastChange = () => this.#told.lastChange;
    if (intervalMs > 0) {
      this.#compactor = new Compactor({ client, intervalMs, clock, log, lastChange, forgotten });
    }
    void this.#answerTheLate();
  }

  /** Rejects with a StorageError that names the servers. */
  static async open(options: EtcdStoreOptions): Promise<Store> {
    const endpoints = parseEndpoints(options.servers);
    const { clock = systemClock, log = silentLogger(), tls = {} } = options;
    const times = { ...defaultTimes, ...options.times };
    const client = new EtcdClient({ endpoints, tls, times, clock, log });
    try {
      const keys = new KeyMap(options.prefix ?? defaultEtcdPrefix);
      const values = new Values(keys, warnOfForeign(log));
      const reads = new Reads(client, keys, values);
      const numbering = await checkIdentity(client, keys, options.identity);
      const parts = { client, keys, values, reads, clock, log, times };
      const intervalMs = options.compactionIntervalMs ?? defaultCompactionIntervalMs;
      const store = new EtcdStore(parts, await reads.head(), intervalMs);
      return numbering === undefined ? store : new RenumberedStore(store, numbering);
    } catch (error) {
      client[Symbol.dispose]();
      throw storageError(error);
    }
  }

  /** Only when what is in etcd is this store no more: etcd itself may always come back. */
  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  get doubtful(): Revision {
    return this.#told.doubtful;
  }

  async commit(write: Write): Promise<Outcome> {
    const refusal = refuse(write);
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
    const revision = await this.#asked(this.#revision.read());
    this.#want(revision); // who asks waits for it next
    return revision;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    this.#mustBeOpen();
    return await this.#asked(this.#parts.reads.list(prefix, revision, after, limit));
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    this.#mustBeOpen();
    yield* this.#told.changes(prefix, after, signal);
  }

  async compact(upTo: Revision): Promise<void> {
    this.#mustBeOpen();
    const { client, reads } = this.#parts;
    const newest = (await this.#asked(reads.head())).revision;
    const target = Math.min(upTo, newest);
    if (target < 1) return;
    await this.#asked(compactEtcd(client, target));
    this.#told.forget(target);
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
    const flight = this.#answers.begin(write.key);
    try {
      const request = transactionOf(
        write,
        keys.toEtcd(write.key),
        keys.readOnlyKey,
        knownCreation(write) !== undefined,
      );
      const response = await client.call(transact, request, { repeatable: false });
      const outcome = outcomeOf(write, response, values);
      const { promise, resolve } = Promise.withResolvers<void>();
      // a turn later, when this one waits as all others do: they go on in the order in which they are answered
      queueMicrotask(() => this.#answers.finish(flight, outcome.revision, clock.monotonicMs(), resolve));
      this.#want(outcome.revision);
      await promise;
      return isOutcome(outcome) ? outcome : refusedOutcome(write.key, outcome);
    } catch (error) {
      this.#answers.drop(flight);
      return failedOutcome(write.key, await this.#reallyFull(write, error));
    }
  }

  /** etcd says that it is full also of the write that has filled it, and which it has done. */
  async #reallyFull({ key, expect }: Write, error: unknown): Promise<unknown> {
    if (!(error instanceof EtcdError) || error.reason !== 'full') return error;
    const now = await this.#parts.reads.revisionOfKey(key).catch(() => undefined);
    if (now === expect) return error;
    return new EtcdError('unknown', `${error.message}, and it may have been written`, { cause: error });
  }

  /** Emptied or replaced while it was in use: what is written there now would be of another store. */
  #lose(): StorageError {
    const { client, keys } = this.#parts;
    const error = new StorageError(
      'corrupt',
      `etcd at ${client.name} holds no store any more (${Buffer.from(keys.identityKey).toString()} is missing): it was emptied or replaced while this server ran; restore it, or start this server anew on what is there`,
    );
    if (!this.failed.aborted) this.#failure.abort(error);
    return error;
  }

  /** Sees to it that no revision is given a second time after etcd was put back. */
  async #raise(from: Revision, beyond: Revision): Promise<void> {
    const { client, keys, clock, log } = this.#parts;
    const { signal } = this.#stop;
    const key = keys.raiseKey;
    while (!signal.aborted && from <= beyond) {
      try {
        if (await raise({ client, key, from, beyond, log, signal })) this.#told.forget(beyond);
        else this.#told.trust();
        return;
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error }, 'the revision of etcd cannot be raised yet; it is tried again');
        await clock.sleep(1_000, signal);
      }
    }
  }

  #want(revision: Revision): void {
    if (revision > this.#told.revision) this.#follower.want(revision);
  }

  /** Only when the watch cannot be had for long. */
  async #answerTheLate(): Promise<void> {
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
    this.#told.end();
    this.#stop.abort();
    await Promise.all([this.#follower, this.#compactor].map((part) => part?.[Symbol.asyncDispose]()));
    client[Symbol.dispose]();
    this.#answers.giveUp(Number.POSITIVE_INFINITY);
  }

  /** What etcd was asked, with its errors as the store's. */
  async #asked<T>(question: Promise<T>): Promise<T> {
    try {
      return await question;
    } catch (error) {
      if (this.#closing !== undefined) throw this.#closedError();
      throw storageError(error);
    }
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw this.#closedError();
  }

  #closedError(): StorageError {
    return new StorageError('closed', `the store in etcd at ${this.#parts.client.name} is closed`);
  }
}
